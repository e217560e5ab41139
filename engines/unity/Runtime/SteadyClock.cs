using System;
using System.Diagnostics;

namespace Muster
{
    static class SteadyClock
    {
        static readonly Stopwatch sinceStart = Stopwatch.StartNew();
        static readonly double began = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

        /// Epoch milliseconds at the start of the process, to which a monotonic time is added. So setting the
        /// machine's clock changes no wait. Times in tokens are compared with Muster's clock, whose time is in
        /// Muster's responses.
        public static double NowMs => began + sinceStart.ElapsedMilliseconds;

        /// Milliseconds by which the machine's wall clock is ahead of that time, because it was set or the machine
        /// slept.
        public static double StepMs => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds() - NowMs;
    }
}
