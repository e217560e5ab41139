/** A share from 0 to 1 as a bar, which says nothing that the number beside it does not. */
export const Meter = ({ share, isFull = false }: { readonly share: number; readonly isFull?: boolean }) => (
  <svg class={`meter ${isFull ? 'full' : ''}`} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="meter-ground" width="100" height="6" />
    <rect class="meter-used" width={Math.min(100, share * 100)} height="6" />
  </svg>
)
