using System;
using System.Diagnostics;

namespace Muster
{
    static class SteadyClock
    {
        static readonly Stopwatch sinceStart = Stopwatch.StartNew();
        static readonly double began = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

        /// Epoch milliseconds at the start of the process, and monotonic since: whoever sets the clock of the machine
        /// changes no wait. Dates of tokens are compared by Muster's clock, which its answers tell.
        public static double NowMs => began + sinceStart.ElapsedMilliseconds;

        /// By how many milliseconds the machine's clock is ahead of that, as it was set since, or the machine slept.
        public static double StepMs => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - NowMs;
    }
}
