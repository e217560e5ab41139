// pure: the page's style sheet
import { baseStyle } from '@muster/console/internal'

/** The style sheet of the emulator's pages. It extends the base style of Muster's pages. */
export const pageStyle = `${baseStyle}
body { margin: 0 auto; max-width: 1600px; padding: 16px 24px 40px; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 24px; }

.follow { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 14px; margin: 0; color: var(--quiet); }
#following::before { content: ""; display: inline-block; width: 9px; height: 9px; margin-right: 6px; border-radius: 50%;
  background: var(--stopping); }
#following.on::before { background: var(--ready); }
#following.bad { color: var(--error); font-weight: 600; }
#following.bad::before { background: var(--error); }
#alarm { position: sticky; top: 0; z-index: 3; margin: -16px -24px 12px; padding: 10px 24px; background: #b9330f;
  color: #fff; font-weight: 600; }
#alarm.paused { background: #8a5a00; }
.stale { filter: grayscale(1); opacity: .5; }
.clock { margin: 2px 0 14px; color: var(--quiet); font-variant-numeric: tabular-nums; }

.totals { display: grid; grid-template-columns: repeat(9, minmax(0, 1fr)); gap: 10px; margin: 0 0 16px; }
.total { min-width: 0; padding: 9px 12px 10px; background: var(--surface); border: 1px solid var(--line);
  border-radius: 10px; }
.total dt { color: var(--quiet); }
.total dt::first-letter { text-transform: uppercase; }
.total dd { margin: 0; }
.total b { display: block; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.total small { display: block; line-height: 1.35; }
.total.ready { border-top: 3px solid var(--ready); }
.total.starting { border-top: 3px solid var(--starting); }
.total.error { border-top: 3px solid var(--error); }
.total.stopping { border-top: 3px solid var(--stopping); }
.total:is(.ready, .starting, .error, .stopping) { padding-top: 7px; }
.total.bad b { color: var(--error); }

.maps { display: grid; grid-template-columns: minmax(0, 62fr) minmax(0, 38fr); gap: 12px; }
.world { --dot: 2.12; --small: 1.06; }
.europe { --dot: .5; --small: .5; }
.frame { fill: none; stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 5 4; opacity: .7; }
.dot { transform: scale(var(--dot)); }
.dot.small { transform: scale(var(--small)); }
.empty { fill: var(--sea); stroke: var(--quiet); stroke-width: 1; }
.rim { fill: var(--surface); }
.slice.ready { fill: var(--ready); }
.slice.starting { fill: var(--starting); }
.slice.error { fill: var(--error); }
.slice.stopping { fill: var(--stopping); }
.alarm { fill: none; stroke: var(--error); stroke-width: 1.4; stroke-dasharray: 3 2.5; }
.legend li::before { content: ""; display: inline-block; width: 10px; height: 10px; margin-right: 6px;
  border-radius: 50%; background: currentColor; }
.legend .ready::before { color: var(--ready); }
.legend .starting::before { color: var(--starting); }
.legend .error::before { color: var(--error); outline: 1.5px dashed var(--error); outline-offset: 1.5px; }
.legend .stopping::before { color: var(--stopping); }
.legend .empty::before { width: 8px; height: 8px; border: 1.5px solid var(--quiet); background: none; }

.search { margin: 0 0 8px; }
.search input { width: 100%; max-width: 420px; padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px;
  background: var(--ground); color: inherit; font: inherit; }
pre { margin: 0; padding: 10px 12px; overflow: auto; border-radius: 6px; background: var(--ground);
  font: 12.5px/1.5 ui-monospace, "SFMono-Regular", Consolas, "Liberation Mono", monospace; }
pre.code { margin-top: 10px; }
pre.log { max-height: 420px; white-space: pre-wrap; overflow-wrap: anywhere; }
.back { margin: 2px 0 12px; }
.facts { display: flex; flex-wrap: wrap; gap: 10px 32px; margin: 0; }
.facts dt { color: var(--quiet); font-size: 12px; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.actions { margin: 14px 0 0; }
#stop { border-color: var(--error); color: var(--error); font-weight: 600; }
#deployment + section { margin-top: 16px; border-left: 4px solid var(--error); }
#variables .scroll { max-height: none; }
#variables th { white-space: nowrap; }
#variables td code { overflow-wrap: anywhere; }
p.problem::first-letter { text-transform: uppercase; }
p.problem { margin: 0; overflow-wrap: anywhere; color: var(--error); }
.hidden-value { color: var(--quiet); letter-spacing: .1em; }

.columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 16px; margin-top: 16px; }
.column { display: flex; flex-direction: column; gap: 16px; min-width: 0; }
.scroll { max-height: 480px; margin: 0 -16px -14px; padding: 0 16px 8px; overflow: auto; border-radius: 0 0 10px 10px; }
#deployments .scroll { max-height: 640px; }
.scroll:focus-visible { outline-offset: -2px; }
thead th { position: sticky; top: 0; z-index: 1; background: var(--surface); }
td small, th small { white-space: nowrap; }
td small.problem { white-space: normal; overflow-wrap: anywhere; color: var(--error); }
.name { overflow-wrap: break-word; }
.zero { color: var(--quiet); opacity: .6; }
.answer, .off { display: inline-block; max-width: 100%; margin: 0 2px 2px 0; padding: 0 7px;
  border-radius: 5px; background: var(--inset); font-size: 12.5px; overflow-wrap: anywhere; }
#deployments .tag { white-space: nowrap; }
.answer { font-variant-numeric: tabular-nums; }
.of2 { background: color-mix(in srgb, var(--ready) var(--tint), transparent); }
.of4, .of5 { background: color-mix(in srgb, var(--error) var(--tint), transparent); }
.off { background: color-mix(in srgb, var(--stopping) var(--tint), transparent); }

@media (max-width: 1150px) {
  .totals { grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .maps { grid-template-columns: minmax(0, 1fr); }
  .map { height: auto; }
  .europe { --dot: .32; --small: .32; max-width: 760px; }
}
@media (max-width: 860px) {
  .world { --dot: 3; --small: 1.5; }
  .world .city { display: none; }
}
@media (max-width: 700px) {
  body { padding: 12px 10px 32px; }
  section { padding: 12px; }
  .scroll, #deployments .scroll { max-height: 440px; margin: 0 -12px -12px; padding: 0 12px 8px; }
  .totals { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px; }
  .total { padding-inline: 10px 6px; }
  .total b { font-size: 21px; }
  #alarm { margin: -12px -10px 10px; padding: 10px; }
  .europe { --dot: .55; --small: .55; }
  .world { --dot: 4; --small: 2; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards, .cards tbody { display: block; }
  .cards tbody tr { display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 8px 0;
    border-bottom: 1px solid var(--line); }
  .cards tbody tr:last-child { border-bottom: 0; }
  .cards tbody :is(th, td) { display: block; padding: 0; border: 0; text-align: left; white-space: normal; }
  .cards tbody th { flex-basis: 100%; font-weight: 600; }
  .cards td::before { content: attr(data-heading); display: block; color: var(--quiet); font-size: 11px; }
  :is(#variables, #deployments) td::before { display: none; }
}
@media (forced-colors: active) {
  .slice, .alarm, .total, .status, .legend li::before, #following::before { forced-color-adjust: none; }
}
`
