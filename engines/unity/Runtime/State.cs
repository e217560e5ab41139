using System;
using System.Collections.Generic;
using System.Linq;

namespace Muster
{
    public enum Phase { Idle, Gathering, Searching, Found, Assigned, Ended }

    /// What a player is in. Members are null where there is nothing to say.
    public sealed class State
    {
        public readonly Phase Phase;
        /// Nothing is heard, and the connection is being made again.
        public readonly bool IsStale;
        /// Of the ticket (searching, found) or the group (gathering).
        public readonly string TicketId, Queue, GroupId;
        /// Half of such tickets wait no longer.
        public readonly double? WaitP50Seconds;
        /// The player is asked whether they accept the match, until a time in ISO 8601 by Muster's clock.
        public readonly bool MustAccept;
        public readonly string AcceptUntil;
        /// Whether the player, and each member of the group by id, is ready.
        public readonly bool IsReady;
        public readonly IReadOnlyDictionary<string, bool> Members;
        /// Ids of members who are not ready: why no match is searched yet. Empty until the members are known.
        public readonly IReadOnlyList<string> WaitingFor;
        public readonly string MatchId;
        public readonly Assignment Assignment;
        /// Why it ended: `cancelled`, `expired`, `declined`, `absent`, …; `gone`: Muster knows nothing of it.
        public readonly string Reason;

        internal State(object told)
        {
            var ticket = Json.At(told, "ticket");
            var group = Json.At(told, "group");
            var wait = Json.At(told, "wait");
            var acceptance = Json.At(told, "acceptance");
            var assignment = Json.At(told, "assignment");
            Phase = (Phase)Enum.Parse(typeof(Phase), Json.TextAt(told, "phase"), true);
            IsStale = Json.At(told, "stale") != null;
            TicketId = Json.TextAt(ticket, "id");
            Queue = Json.TextAt(ticket, "queue");
            GroupId = Json.TextAt(group, "id") ?? Json.TextAt(ticket, "groupId");
            if (wait != null) WaitP50Seconds = Json.NumberAt(wait, "p50Seconds");
            MustAccept = acceptance != null && !Json.IsTrueAt(acceptance, "accepted");
            AcceptUntil = Json.TextAt(acceptance, "until");
            IsReady = Json.IsTrueAt(group, "isReady");
            Members = Json.ItemsAt(group, "members")
                .ToDictionary(one => Json.TextAt(one, "playerId"), one => Json.IsTrueAt(one, "isReady"));
            WaitingFor = Json.ItemsAt(group, "waitingFor").Cast<string>().ToList();
            MatchId = Json.TextAt(told, "matchId");
            Reason = Json.TextAt(told, "reason");
            if (assignment != null) Assignment = new Assignment(assignment);
        }
    }

    /// Where to connect.
    public sealed class Assignment
    {
        public readonly string Fqdn, City;
        /// Sent to the game server first of all: it says who the player is. `Resume` gives a fresh one.
        public readonly string JoinToken;
        public readonly IReadOnlyDictionary<string, Port> Ports;

        internal Assignment(object told)
        {
            Fqdn = Json.TextAt(told, "fqdn");
            City = Json.TextAt(told, "city");
            JoinToken = Json.TextAt(told, "joinToken");
            var ports = Json.At(told, "ports") as Dictionary<string, object> ?? new Dictionary<string, object>();
            Ports = ports.ToDictionary(one => one.Key, one => new Port(one.Value));
        }
    }

    public sealed class Port
    {
        public readonly string Link, Protocol;
        /// 0 where there is none.
        public readonly int Internal, External;

        internal Port(object told)
        {
            Link = Json.TextAt(told, "link");
            Protocol = Json.TextAt(told, "protocol");
            Internal = (int)Json.NumberAt(told, "internal");
            External = (int)Json.NumberAt(told, "external");
        }
    }

    /// What is asked for: a queue, and what its rules compare.
    public sealed class PlayRequest
    {
        public string Profile;
        public string[] Profiles, Roles;
        public Dictionary<string, object> Attributes;
    }

    /// Why a command failed.
    public sealed class MusterException : Exception
    {
        /// HTTP status; 0: there was no answer, or the search has ended.
        public readonly int Status;
        /// For programs, e.g. `player-cooling-down`.
        public readonly string Code, Field;
        public readonly double RetryAfterMs;

        internal MusterException(object told) : base(Json.TextAt(told, "message"))
        {
            Status = (int)Json.NumberAt(told, "status");
            Code = Json.TextAt(told, "code");
            Field = Json.TextAt(told, "field");
            RetryAfterMs = Json.NumberAt(told, "retryAfterMs");
        }
    }
}
