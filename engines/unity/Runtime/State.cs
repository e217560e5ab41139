using System;
using System.Collections.Generic;
using System.Linq;

namespace Muster
{
    public enum Phase { Idle, Gathering, Searching, Found, Assigned, Ended }

    /// A player's state. Members that do not belong to the phase are null.
    public sealed class State
    {
        public readonly Phase Phase;
        /// True while Muster does not respond and the client is reconnecting.
        public readonly bool IsStale;
        /// Fields of the ticket (searching, found) or of the group (gathering).
        public readonly string TicketId, Queue, GroupId;
        /// Estimated median of the remaining wait in seconds.
        public readonly double? WaitP50Seconds;
        /// True if the player must accept the match, until a time in ISO 8601 by Muster's clock.
        public readonly bool MustAccept;
        public readonly string AcceptUntil;
        /// Whether the player is ready, and whether each member of the group is, by id.
        public readonly bool IsReady;
        public readonly IReadOnlyDictionary<string, bool> Members;
        /// Ids of the members who are not ready. The search has not begun while there are any. Empty until the
        /// members are known.
        public readonly IReadOnlyList<string> WaitingFor;
        public readonly string MatchId;
        public readonly Assignment Assignment;
        /// Why the search ended: `cancelled`, `expired`, `declined`, `absent`, …; `gone`: Muster does not know the
        /// ticket any more.
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

    /// The address to which the player connects.
    public sealed class Assignment
    {
        public readonly string Fqdn, City;
        /// Send it to the game server first. It proves who the player is. `Resume` returns a new one.
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
        /// 0 if there is no such port.
        public readonly int Internal, External;

        internal Port(object told)
        {
            Link = Json.TextAt(told, "link");
            Protocol = Json.TextAt(told, "protocol");
            Internal = (int)Json.NumberAt(told, "internal");
            External = (int)Json.NumberAt(told, "external");
        }
    }

    /// The request for a match: the queue, and the data that its rules compare.
    public sealed class PlayRequest
    {
        public string Profile;
        public string[] Profiles, Roles;
        public Dictionary<string, object> Attributes;
    }

    /// Thrown if a command failed.
    public sealed class MusterException : Exception
    {
        /// HTTP status. 0: there was no response, or the search has ended.
        public readonly int Status;
        /// A code for programs, e.g. `player-cooling-down`, and the invalid field, if any.
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
