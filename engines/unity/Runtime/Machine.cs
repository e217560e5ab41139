using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// The client's logic without a connection, like packages/client/src/machine.ts. Inputs are responses and
    /// commands, outputs are requests and states, as in engines/transcript.jsonl. It reads no clock, sends nothing
    /// and draws no random numbers.
    public sealed partial class Machine : IMachine
    {
        /// Seconds for which Muster may hold a long poll. Proxies cut connections that are silent for longer.
        const int WaitSeconds = 25;
        /// Milliseconds between two reads of a forming group.
        const double GatherMs = 1000;
        /// Minimum milliseconds between two long polls for the same version, because a proxy may answer each at once.
        const double SamePollMs = 1000;
        /// The first and the longest delay after a failure, before the jitter.
        const double FirstPauseMs = 500, LongestPauseMs = 15000;
        /// The longest delay that a response may request. Without this limit, one wrong header could end the game's
        /// search.
        internal const double LongestRetryMs = 3600000;

        readonly Func<double> random;
        /// The jobs, in the order in which they were started.
        readonly List<Job> jobs = new List<Job>();
        List<Obj> output = new List<Obj>();
        double now, requests;
        Obj state = Json.Object("phase", "idle");
        double? staleSince;
        Place place;
        /// Unanswered commands, by the event that ends them.
        readonly Dictionary<Kind, List<double>> waiting = AllKinds.ToDictionary(kind => kind, _ => new List<double>());
        /// True while the outcome of a create is unknown: it has no response yet, or it was refused with `busy`
        /// because the player is already in something.
        bool isEntering;
        Obj busy;
        /// The path of the latest long poll, and the time at which it was sent.
        string polledPath;
        double polledAt;
        double? wakeAt;
        bool isClosed;

        /// @param random returns 0 to 1, to spread requests that many clients would otherwise send at the same moment
        public Machine(Func<double> random)
        {
            this.random = random;
        }

        /// @param at milliseconds of any clock that never goes back
        public List<Obj> Step(object input, double at)
        {
            // A timer may fire a fraction of a millisecond early, and no second timer would follow.
            now = Math.Max(now, Json.At(input, "wake") != null ? Math.Max(at, wakeAt ?? at) : at);
            output = new List<Obj>();
            if (isClosed && Json.TextAt(input, "do") != null) Fail(Json.NumberAt(input, "command"), Closed);
            if (isClosed) return output;
            if (Json.TextAt(input, "do") != null) Obey(input);
            else if (Json.At(input, "answer") != null) Take(input);
            foreach (var job in jobs)
                if (job.Request == null && job.DueAt <= now) Send(job);
            var next = jobs.Where(job => job.Request == null).Min(job => (double?)job.DueAt);
            if (next != wakeAt) output.Add(Json.Object("wakeAt", next));
            wakeAt = next;
            return output;
        }

        void Show(Obj shown)
        {
            var next = new Obj(shown);
            if (staleSince != null) next["stale"] = staleSince;
            if (Json.AreSame(next, state)) return;
            state = next;
            output.Add(Json.Object("state", next));
        }
        void SetStale(double? since)
        {
            if (staleSince == null == (since == null)) return;
            staleSince = since;
            var rest = new Obj(state);
            rest.Remove("stale");
            Show(rest);
        }
        bool IsIn(string phase) => (string)state["phase"] == phase;

        Job JobIn(Slot slot) => jobs.Find(job => job.Slot == slot);
        void Drop(Slot slot)
        {
            var job = JobIn(slot);
            if (job?.Request != null) output.Add(Json.Object("abort", job.Request));
            jobs.Remove(job);
            if (slot == Slot.Act) FailAll(Kind.Act, Superseded);
        }
        void Start(Slot slot, Job job, double inMs = 0)
        {
            Drop(slot);
            job.Slot = slot;
            job.DueAt = now + inMs;
            jobs.Add(job);
        }
        void Send(Job job)
        {
            requests += 1;
            job.Request = requests;
            var request = Json.Object("request", requests, "method", job.Method, "path", job.Path);
            request["waitMs"] = job.WaitMs;
            if (job.Body != null) request["body"] = job.Body;
            output.Add(request);
        }

        void Done(double command) => output.Add(Json.Object("done", command));
        void Fail(double command, Obj refusal) => output.Add(Json.Object("failed", command, "refusal", refusal));
        void DoneAll(Kind kind)
        {
            foreach (var command in waiting[kind]) Done(command);
            waiting[kind].Clear();
        }
        void FailAll(Kind kind, Obj refusal)
        {
            foreach (var command in waiting[kind]) Fail(command, refusal);
            waiting[kind].Clear();
        }
        bool IsCancelling => waiting[Kind.Cancel].Count > 0;

        /// Called when the player is in nothing any more.
        void Leave(string reason)
        {
            foreach (var slot in new[] { Slot.Follow, Slot.Me }) Drop(slot);
            place = new Place();
            // The object of a pending cancel no longer exists. Drop the request, because repeating it could cancel a
            // later ticket.
            if (IsCancelling) Drop(Slot.Act);
            DoneAll(Kind.Cancel);
            Show(reason == null ? Json.Object("phase", "idle") : Json.Object("phase", "ended", "reason", reason));
            DoneAll(Kind.Resume);
            FailAll(Kind.Search, Refusal.Of(0, reason ?? "gone", "The search has ended."));
        }

        void LookUp() =>
            Start(Slot.Me, new Job
            {
                Path = "/me",
                Shape = "me",
                Good = me =>
                {
                    var refusal = busy;
                    SetEntering(false);
                    TakeUp(me, refusal);
                    if (IsIn("gathering")) DoneAll(Kind.Group);
                    else if (refusal != null) FailAll(Kind.Group, refusal);
                    DoneAll(Kind.Resume);
                },
                Refused = refusal =>
                {
                    FailAll(Kind.Resume, refusal);
                    // Another pending command needs the response too.
                    if (isEntering || (place.In != In.Nothing && JobIn(Slot.Follow) == null)) LookUp();
                },
            });
        /// Reads what the player is in. If such a read is in flight, its response is used.
        void Look()
        {
            if (JobIn(Slot.Me)?.Request == null) LookUp();
        }

        /// @param refusal reported if the player is in nothing
        void TakeUp(object me, Obj refusal)
        {
            Func<object, bool> isAssigned = one => Json.At(one, "assignment") is Obj;
            var match = Json.ItemsAt(me, "matches").FirstOrDefault(isAssigned);
            var seat = Json.ItemsAt(me, "seats").FirstOrDefault(isAssigned);
            var ticket = Json.ItemsAt(me, "tickets")
                .FirstOrDefault(one => Json.TextAt(one, "status") != "CANCELLED" && Json.At(one, "ended") == null);
            var gathering = Json.ItemsAt(me, "groups").FirstOrDefault(one => Json.TextAt(one, "status") == "FORMING");
            // A match with a server comes first. A running match has a ticket as well.
            if (match != null) Assigned(Json.TextAt(match, "match_id"), Json.At(match, "assignment"));
            else if (ticket != null)
            {
                if (place.In != In.Ticket || place.Id != Json.TextAt(ticket, "id")) place = new Place();
                SetTicket(ticket, true);
            }
            else if (gathering != null) SetMember(gathering);
            else if (seat != null) Assigned(null, Json.At(seat, "assignment"));
            else if (refusal != null) Refuse(refusal);
            else if (IsCancelling) Leave("cancelled");
            else Leave(place.In == In.Nothing ? null : "gone");
        }

        void Assigned(string matchId, object assignment)
        {
            Drop(Slot.Follow);
            place = new Place();
            var where = Json.Object(
                "fqdn", Json.At(assignment, "fqdn"),
                "ports", Json.At(assignment, "ports"),
                "joinToken", Json.TextAt(assignment, "join_token"),
                "city", Json.TextAt(Json.At(assignment, "location"), "city"));
            Show(Json.Object("phase", "assigned", "matchId", matchId, "assignment", where));
            if (IsCancelling) Drop(Slot.Act);
            FailAll(Kind.Cancel, Refusal.Of(409, "player-playing", "The player has a server already."));
            DoneAll(Kind.Search);
        }

        /// @param isFollowed true if the ticket was read by following it, and not by another request
        void SetTicket(object ticket, bool isFollowed)
        {
            var id = Json.TextAt(ticket, "id");
            var version = Json.NumberAt(ticket, "version");
            var isKnown = place.In == In.Ticket;
            if (isKnown && (place.Id != id || version < place.Version))
            {
                Follow();
                return;
            }
            if (!isFollowed && !isKnown) return;
            var isNew = !isKnown || version > place.Version;
            place = new Place
            {
                In = In.Ticket, Id = id, Version = version, Match = Json.TextAt(ticket, "match_id")
            };
            var known = Json.Object("id", id, "queue", Json.At(ticket, "profile"));
            known["groupId"] = Json.TextAt(ticket, "group_id");
            var status = Json.TextAt(ticket, "status");
            var ended = Json.At(ticket, "ended");
            var assignment = Json.At(ticket, "assignment");
            if (status == "CANCELLED") Leave(Json.TextAt(ticket, "cancel_reason") ?? "cancelled");
            else if (ended != null) Leave(Json.TextAt(ended, "reason"));
            else if (status == "HOST_ASSIGNED" && assignment != null)
                Assigned(Json.TextAt(ticket, "match_id"), assignment);
            else if (IsCancelling) TakeOut();
            else
            {
                var wait = Json.At(ticket, "estimated_wait");
                var waits = wait == null
                    ? null
                    : Json.Object(
                        "p50Seconds", Json.At(wait, "p50_seconds"),
                        "p90Seconds", Json.At(wait, "p90_seconds"));
                if ((isNew || isFollowed) && status == "SEARCHING")
                    Show(Json.Object("phase", "searching", "ticket", known, "wait", waits));
                else if (isNew || isFollowed)
                    Show(Json.Object("phase", "found", "ticket", known, "acceptance", Json.At(ticket, "acceptance")));
                Follow();
            }
        }

        void Follow()
        {
            if (place.In != In.Ticket) return;
            var version = place.Version.ToString("F0", CultureInfo.InvariantCulture);
            var path = $"{OwnPath()}?wait={WaitSeconds}&version={version}";
            // The request in flight is the same one.
            if (JobIn(Slot.Follow)?.Path == path) return;
            Action<object> good = answer => SetTicket(answer, true);
            var job = new Job { Path = path, Good = good, Refused = Elsewhere, Shape = "ticket" };
            job.WaitMs = WaitSeconds * 1000;
            var inMs = polledPath == path ? Math.Max(0, polledAt + SamePollMs - now) : 0;
            polledPath = path;
            polledAt = now + inMs;
            Start(Slot.Follow, job, inMs);
        }

        /// The player's state has changed elsewhere, so read it again.
        void Elsewhere(Obj refusal) => LookUp();

        void SetMember(object member)
        {
            var group = Json.TextAt(member, "group_id");
            place = new Place { In = In.Group, Id = group, Member = Json.TextAt(member, "member_id") };
            var ticket = Json.TextAt(member, "ticket_id");
            if (IsCancelling) TakeOut();
            else if (ticket != null) OpenTicket(ticket);
            else if (Json.TextAt(member, "status") == "CANCELLED") Leave("cancelled");
            else
            {
                var before = Json.At(state, "group");
                var isSame = IsIn("gathering") && Json.TextAt(before, "id") == group;
                var shown = isSame
                    ? new Obj((Obj)before)
                    : Json.Object("members", new List<object>(), "waitingFor", new List<object>());
                shown["id"] = group;
                shown["isReady"] = Json.At(member, "is_ready");
                Show(Json.Object("phase", "gathering", "group", shown));
                Gather(0);
            }
        }

        /// Returns the path of the ticket, or of the player's place in the group.
        string OwnPath() => place.In == In.Ticket
            ? $"/tickets/{Uri.EscapeDataString(place.Id)}"
            : $"/groups/{Uri.EscapeDataString(place.Id)}/members/{Uri.EscapeDataString(place.Member)}";

        void Gather(double inMs)
        {
            if (place.In != In.Group) return;
            var group = place.Id;
            Action<object> good = answer =>
            {
                if (place.In != In.Group || place.Id != group) return;
                if (Json.TextAt(answer, "status") != "FORMING")
                {
                    var own = new Job { Path = OwnPath(), Good = SetMember, Refused = Elsewhere, Shape = "member" };
                    Start(Slot.Follow, own);
                    return;
                }
                if (IsIn("gathering"))
                {
                    List<object> members = new List<object>(), waitingFor = new List<object>();
                    foreach (var one in Json.ItemsAt(answer, "members"))
                    {
                        var player = Json.At(one, "player_id");
                        members.Add(Json.Object("playerId", player, "isReady", Json.At(one, "is_ready")));
                        if (!Json.IsTrueAt(one, "is_ready")) waitingFor.Add(player);
                    }
                    var shown = new Obj((Obj)state["group"]) { ["members"] = members, ["waitingFor"] = waitingFor };
                    Show(Json.Object("phase", "gathering", "group", shown));
                }
                Gather(GatherMs);
            };
            var path = $"/groups/{Uri.EscapeDataString(group)}";
            Start(Slot.Follow, new Job { Path = path, Good = good, Refused = Elsewhere, Shape = "group" }, inMs);
        }

        void OpenTicket(string ticket)
        {
            Action<object> good = answer =>
            {
                place = new Place();
                SetTicket(answer, true);
            };
            var path = $"/tickets/{Uri.EscapeDataString(ticket)}";
            Start(Slot.Follow, new Job { Path = path, Good = good, Refused = Elsewhere, Shape = "ticket" });
        }

        void SetEntering(bool isSo, Obj refusal = null)
        {
            isEntering = isSo;
            busy = refusal;
        }

        void Enter(string path, Obj body)
        {
            SetEntering(true);
            // The response to an earlier read would show an outdated state. A refusal leads to another read.
            Drop(Slot.Me);
            Start(Slot.Enter, new Job
            {
                Method = "POST",
                Path = path,
                Body = body,
                Shape = path == "/tickets" ? "ticket" : "member",
                Good = answer =>
                {
                    SetEntering(false);
                    if (path == "/tickets") SetTicket(answer, true);
                    else SetMember(answer);
                    DoneAll(Kind.Resume);
                    DoneAll(Kind.Group);
                },
                Refused = refusal =>
                {
                    // Continue with the player's present ticket, group or match. If there is none any more, report
                    // the refusal.
                    var code = Json.TextAt(refusal, "code");
                    var isBusy = code == "player-busy" || code == "player-playing";
                    if (isBusy) SetEntering(true, refusal);
                    else Refuse(refusal);
                    if (isBusy || waiting[Kind.Resume].Count > 0) LookUp();
                },
            });
        }

        /// Reports a refusal. The player stays in what they were in.
        void Refuse(Obj refusal)
        {
            SetEntering(false);
            FailAll(Kind.Search, refusal);
            FailAll(Kind.Group, refusal);
            DoneAll(Kind.Cancel);
        }

        void Take(object input)
        {
            var answer = Json.NumberAt(input, "answer");
            var status = Json.NumberAt(input, "status");
            var retryAfterMs = Json.NumberAt(input, "retryAfterMs");
            var job = jobs.Find(one => one.Request == answer);
            if (job == null) return;
            var isGood = status >= 200 && status < 300;
            // If no command waits for the response, repeat the request: an invalid token may be valid later.
            var isBackground =
                (job.Slot == Slot.Me && waiting[Kind.Resume].Count == 0) || (job.Slot == Slot.Follow && status == 401);
            job.Request = null;
            // A malformed response counts as none. Only a command that waits for exactly this response gets an error.
            var isWrong = isGood && job.Shape != null && !Shapes.Fits(job.Shape, Json.At(input, "body"));
            if (isWrong && job.Slot == Slot.Me) FailAll(Kind.Resume, Wrong);
            if (isWrong && job.Slot == Slot.Act) FailAll(Kind.Act, Wrong);
            var isPassing = status == 0 || status == 408 || status == 429 || status >= 500;
            if (isWrong || isPassing || (!isGood && isBackground))
            {
                SetStale(staleSince ?? now);
                var longest = Math.Min(FirstPauseMs * Math.Pow(2, job.Failures), LongestPauseMs);
                job.Failures += 1;
                // Without a version, the next long poll is answered at once, which proves that the connection works
                // again.
                if (job.Slot == Slot.Follow) job.Path = job.Path.Split('?')[0];
                job.WaitMs = 0;
                var wanted = Math.Min(retryAfterMs, LongestRetryMs);
                job.DueAt = now + Math.Max(wanted, Math.Floor(random() * longest + 0.5));
                if (job.Slot == Slot.Enter && IsCancelling)
                {
                    Drop(Slot.Enter);
                    LookUp();
                }
                return;
            }
            jobs.Remove(job);
            SetStale(null);
            if (isGood) job.Good(Json.At(input, "body"));
            else job.Refused(Refusal.In(status, Json.At(input, "body"), retryAfterMs));
        }
    }
}
