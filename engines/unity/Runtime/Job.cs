using System;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// What a machine waits for: one thing of each kind at a time.
    enum Slot { Me, Enter, Follow, Act }

    /// A request until it has an answer.
    sealed class Job
    {
        /// Of a good answer; null: whatever it says.
        public string Shape;
        public Slot Slot;
        public string Method = "GET", Path;
        public object Body;
        public double WaitMs;
        public Action<object> Good;
        public Action<Obj> Refused;
        /// Of the request that is under way.
        public double? Request;
        /// When it is sent (again).
        public double DueAt;
        public int Failures;
    }

    /// What ends a command: all of a kind end at once.
    enum Kind
    {
        /// With what the player is in.
        Resume,
        /// With a server, or without.
        Search,
        /// With a group.
        Group,
        /// With nothing that the player is in, although what there is may not be known yet.
        Cancel,
        /// With the answer to the job `Act`.
        Act,
    }

    enum In { Nothing, Group, Ticket }

    /// Where the player is, as far as it is known.
    struct Place
    {
        public In In;
        /// Of the group or the ticket.
        public string Id, Member;
        /// The match of the ticket; null without one.
        public string Match;
        public double Version;
    }
}
