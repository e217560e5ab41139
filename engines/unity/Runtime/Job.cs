using System;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// What a machine waits for: one thing of each kind at a time.
    enum Slot { Me, Enter, Follow, Act }

    /// A request until it has an answer.
    sealed class Job
    {
        public Slot Slot;
        public string Method = "GET", Path;
        public object Body;
        public double WaitMs;
        /// The wish for which it is done; it fails with the job.
        public double? Command;
        public Action<object> Good;
        /// What a refusal means. Default: the wish has failed.
        public Action<Obj> Refused;
        /// Of the request that is under way.
        public double? Request;
        /// When it is sent (again).
        public double DueAt;
        public int Failures;
    }

    enum In { Nothing, Group, Ticket }

    /// Where the player is, as far as it is known.
    struct Place
    {
        public In In;
        /// Of the group or the ticket.
        public string Id, Member;
        public double Version;
    }
}
