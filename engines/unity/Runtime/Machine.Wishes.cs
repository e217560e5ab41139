using System;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// What the machine does at a wish of the game.
    public sealed partial class Machine
    {
        void Obey(object input)
        {
            var command = Json.NumberAt(input, "command");
            switch (Json.TextAt(input, "do"))
            {
                case "resume":
                    // A create that is under way is not overtaken: whether it came about would never be known.
                    if (wantedPath != null)
                    {
                        Done(command);
                        return;
                    }
                    resuming.Add(command);
                    if (JobIn(Slot.Me)?.Request == null) LookUp();
                    return;
                case "play":
                    Search(command, input, true);
                    return;
                case "group":
                    Search(command, input, false);
                    return;
                case "ready":
                    Ready(command, Json.IsTrueAt(input, "isReady"));
                    return;
                case "cancel":
                    if (place.In == In.Ticket) CancelTicket(command);
                    else if (place.In == In.Group) LeaveGroup(command);
                    else if (wantedPath == null) Done(command);
                    else
                    {
                        cancelling = command;
                        // Whether there is a ticket is known by the answer, or else by asking.
                        if (JobIn(Slot.Enter)?.Request != null) return;
                        Drop(Slot.Enter);
                        LookUp();
                    }
                    return;
                case "accept":
                case "decline":
                    Act(command, Json.TextAt(input, "do"));
                    return;
                case "close":
                    isClosed = true;
                    while (jobs.Count > 0) Drop(jobs[0].Slot);
                    Done(command);
                    return;
            }
        }

        void Ready(double command, bool isReady)
        {
            if (place.In != In.Group)
            {
                Fail(command, NothingTo("be ready for"));
                return;
            }
            Action<object> good = answer =>
            {
                SetMember(answer);
                Done(command);
            };
            Start(Slot.Act, new Job
            {
                Method = "PATCH",
                Path = OwnPlace(),
                Body = Json.Object("is_ready", isReady),
                Command = command,
                Good = good,
            });
        }

        void Search(double command, object input, bool isPlay)
        {
            var isBusy = search != null || wantedPath != null || IsIn("gathering") || IsIn("found");
            var request = Json.At(input, "request");
            var body = Json.Object("profile", Json.At(request, "profile"));
            foreach (var name in new[] { "profiles", "attributes", "roles" })
                if (Json.At(request, name) != null) body[name] = Json.At(request, name);
            if (isPlay)
            {
                // The same search, taken up: the newest wish is told how it ends.
                Done(search);
                search = command;
                if (isBusy || IsIn("searching")) return;
                wantedPath = "/tickets";
            }
            else
            {
                if (isBusy || IsIn("searching"))
                {
                    Fail(command, Refusal.Of(409, "player-busy", "The player is in something already."));
                    return;
                }
                var join = Json.TextAt(input, "join");
                wantedPath = join == null ? "/groups" : $"/groups/{Uri.EscapeDataString(join)}/members";
                body["is_ready"] = false;
            }
            wantedBody = body;
            Enter(command);
        }

        void CancelTicket(double command) => TakeOut(command, $"/tickets/{Uri.EscapeDataString(place.Id)}");
        void LeaveGroup(double command) => TakeOut(command, OwnPlace());
        void TakeOut(double command, string path)
        {
            cancelling = command;
            Action<object> good = _ => Leave("cancelled");
            Start(Slot.Act, new Job { Method = "DELETE", Path = path, Good = good, Refused = NotCancelled });
        }
        /// What there was is gone, or a server was assigned meanwhile.
        void NotCancelled(Obj refusal)
        {
            if (Json.NumberAt(refusal, "status") == 404)
            {
                Leave("cancelled");
                return;
            }
            Fail(cancelling, refusal);
            cancelling = null;
            LookUp();
        }

        void Act(double command, string verb)
        {
            if (place.In != In.Ticket)
            {
                Fail(command, NothingTo(verb));
                return;
            }
            Action<object> good = answer =>
            {
                SetTicket(answer, false);
                Done(command);
            };
            var path = $"/tickets/{Uri.EscapeDataString(place.Id)}/{verb}";
            Start(Slot.Act, new Job { Method = "POST", Path = path, Command = command, Good = good });
        }

        static Obj NothingTo(string verb) => Refusal.Of(0, "nothing", $"There is nothing to {verb}.");
    }
}
