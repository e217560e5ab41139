using System;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// The slots of a machine's jobs. Each slot has at most one job at a time.
    enum Slot { Me, Enter, Follow, Act }

    /// A request that has no response yet.
    sealed class Job
    {
        /// The expected shape of a successful response. Null: any response.
        public string Shape;
        public Slot Slot;
        public string Method = "GET", Path;
        public object Body;
        public double WaitMs;
        public Action<object> Good;
        public Action<Obj> Refused;
        /// Number of the request in flight.
        public double? Request;
        /// When the request is sent, or sent again.
        public double DueAt;
        public int Failures;
    }

    /// The event that ends a command. All commands of a kind end together.
    enum Kind
    {
        /// The command ends once it is known what the player is in.
        Resume,
        /// The command ends with a server, or with the end of the search.
        Search,
        /// The command ends with a group.
        Group,
        /// The command ends once the player is in nothing, even if it was unknown what they were in.
        Cancel,
        /// The command ends with the response to the job `Act`.
        Act,
    }

    enum In { Nothing, Group, Ticket }

    /// What the player is in, as far as known.
    struct Place
    {
        public In In;
        /// Ids of the group or ticket, and of the player's place in the group.
        public string Id, Member;
        /// The match of the ticket; null without one.
        public string Match;
        public double Version;
    }
}
