using System;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// How the machine handles the game's commands.
    public sealed partial class Machine
    {
        static readonly Kind[] AllKinds = { Kind.Resume, Kind.Search, Kind.Group, Kind.Cancel, Kind.Act };
        static readonly Obj Superseded =
            Refusal.Of(0, "superseded", "Another command replaced this one before Muster answered.");
        static readonly Obj Wrong = Refusal.Of(
            0, "wrong-answer", "The answer is not a valid answer of Muster.");
        static readonly Obj Closed = Refusal.Of(0, "closed", "The client was closed.");

        void Obey(object input)
        {
            var command = Json.NumberAt(input, "command");
            var isBusy = isEntering || place.In != In.Nothing;
            switch (Json.TextAt(input, "do"))
            {
                case "resume":
                    Resume(command);
                    return;
                case "play":
                    // A player who already has a ticket, group or match continues with it.
                    waiting[Kind.Search].Add(command);
                    if (!isBusy) Enter("/tickets", BodyOf(input));
                    return;
                case "group":
                    if (isBusy)
                        Fail(command,
                            Refusal.Of(409, "player-busy", "The player already has a ticket, group or match."));
                    else
                        EnterGroup(command, input);
                    return;
                case "ready":
                    Ready(command, Json.IsTrueAt(input, "isReady"));
                    return;
                case "accept":
                case "decline":
                    Accept(command, Json.TextAt(input, "do"));
                    return;
                case "cancel":
                    if (isBusy) Cancel(command);
                    else Done(command);
                    return;
                case "close":
                    isClosed = true;
                    foreach (var kind in AllKinds) FailAll(kind, Closed);
                    while (jobs.Count > 0) Drop(jobs[0].Slot);
                    Done(command);
                    return;
            }
        }

        void Resume(double command)
        {
            // Do not send anything while a create is in flight. Otherwise nobody would learn whether its ticket was
            // created.
            if (isEntering)
            {
                Done(command);
                return;
            }
            waiting[Kind.Resume].Add(command);
            Look();
        }

        void EnterGroup(double command, object input)
        {
            waiting[Kind.Group].Add(command);
            var join = Json.TextAt(input, "join");
            var body = BodyOf(input);
            body["is_ready"] = false;
            Enter(join == null ? "/groups" : $"/groups/{Uri.EscapeDataString(join)}/members", body);
        }

        void Ready(double command, bool isReady)
        {
            if (place.In != In.Group)
            {
                Fail(command, NothingTo("be ready for"));
                return;
            }
            var own = place.Member;
            Action<object> good = answer =>
            {
                if (place.In == In.Group && place.Member == own) SetMember(answer);
            };
            var body = Json.Object("is_ready", isReady);
            var job = new Job { Method = "PATCH", Path = OwnPath(), Body = body, Good = good, Shape = "member" };
            Act(command, job);
        }

        void Accept(double command, string verb)
        {
            if (place.In != In.Ticket)
            {
                Fail(command, NothingTo(verb));
                return;
            }
            Action<object> good = answer => SetTicket(answer, false);
            // A repeated request must not answer the ticket's next match, which the player has not seen.
            var body = place.Match == null ? null : Json.Object("match_id", place.Match);
            var path = $"{OwnPath()}/{verb}";
            Act(command, new Job { Method = "POST", Path = path, Body = body, Good = good, Shape = "ticket" });
        }

        void Act(double command, Job job)
        {
            // A cancel is pending, so the player must be taken out, whatever the outcome of this request.
            if (IsCancelling)
            {
                Fail(command, Superseded);
                return;
            }
            job.Good += _ => DoneAll(Kind.Act);
            job.Refused = refusal => FailAll(Kind.Act, refusal);
            Start(Slot.Act, job);
            waiting[Kind.Act].Add(command);
        }

        void Cancel(double command)
        {
            waiting[Kind.Cancel].Add(command);
            FailAll(Kind.Group, Superseded);
            if (place.In != In.Nothing)
            {
                TakeOut();
                return;
            }
            // The response to the create will tell whether there is a ticket. Otherwise, ask Muster.
            if (JobIn(Slot.Enter)?.Request != null) return;
            Drop(Slot.Enter);
            Look();
        }

        void TakeOut()
        {
            var path = OwnPath();
            var asked = JobIn(Slot.Act);
            // The request in flight is the same one.
            if (asked?.Method == "DELETE" && asked.Path == path) return;
            Action<object> good = _ => Leave("cancelled");
            Start(Slot.Act, new Job { Method = "DELETE", Path = path, Good = good, Refused = NotTakenOut });
        }
        /// The ticket or group no longer exists, or a server was assigned meanwhile.
        void NotTakenOut(Obj refusal)
        {
            if (Json.NumberAt(refusal, "status") == 404)
            {
                Leave("cancelled");
                return;
            }
            FailAll(Kind.Cancel, refusal);
            LookUp();
        }

        static Obj BodyOf(object input)
        {
            var request = Json.At(input, "request");
            var body = Json.Object("profile", Json.At(request, "profile"));
            foreach (var name in new[] { "profiles", "attributes", "roles" })
                if (Json.At(request, name) != null) body[name] = Json.At(request, name);
            return body;
        }
        static Obj NothingTo(string verb) => Refusal.Of(0, "nothing", $"There is nothing to {verb}.");
    }
}
