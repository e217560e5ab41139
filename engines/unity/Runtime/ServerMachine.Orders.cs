using System;
using System.Collections.Generic;
using System.Linq;

namespace Muster
{
    /// How the machine handles Muster's orders and the game's commands.
    public sealed partial class ServerMachine
    {
        /// Carries out Muster's orders.
        void Follow(object orders)
        {
            awaitedKnock = Json.TextAt(orders, "knock");
            if (string.IsNullOrEmpty(awaitedKnock)) knock = null;
            var wanted = Json.ItemsAt(orders, "matches");
            var ids = new HashSet<string>(wanted.Select(order => Json.TextAt(order, "id")));
            foreach (var one in matches.Where(one => !ids.Contains(one.Id)))
                End(one, one.Status == "over" ? "The match is over." : "Muster has ended the match.");
            matches.RemoveAll(one => !ids.Contains(one.Id));
            foreach (var order in wanted)
            {
                var known = MatchOf(Json.TextAt(order, "id"));
                if (known != null)
                {
                    var joined = known.Update(order);
                    if (joined.Count > 0) Tell("joined", known.Id, "players", joined);
                    continue;
                }
                var begun = new ServedMatch(order);
                matches.Add(begun);
                if (isStopping) begun.Status = "refused";
                else Tell("match", begun.Seen);
            }
            var want = Json.TextAt(orders, "want");
            var reason = Json.TextAt(orders, "reason");
            if (want == "drain") Drain(reason ?? "wanted");
            if (want == "stop") Stop(reason ?? "no longer needed", false);
            RetryAdmissions(true);
        }

        void Drain(string reason)
        {
            if (isDraining) return;
            isDraining = true;
            Tell("draining", reason);
            Changed();
        }
        /// @param ownWish true if Muster does not know about the stop yet
        void Stop(string reason, bool ownWish)
        {
            if (isStopping) return;
            isStopping = true;
            isOwnWish = ownWish;
            foreach (var one in matches)
            {
                End(one, $"The server is to end: {reason}.");
                // Its players get another server now, and need not wait until the game has stopped.
                if (!ownWish || one.Status != "loading") continue;
                one.GiveUp();
                Changed();
            }
            stopUntil = now + GraceMs;
            Tell("stop", reason, "until", stopUntil + wallAheadMs);
        }
        void Stopped()
        {
            if (stopUntil == null) return;
            stopUntil = null;
            if (!isOwnWish)
            {
                Finish();
                return;
            }
            foreach (var one in matches) one.GiveUp();
            Changed();
            lastWordUntil = now + LastWordMs;
            lastWordRevision = revision;
        }
        void Finish()
        {
            if (request != null) Tell("abort", request.Number);
            request = null;
            dueAt = null;
            foreach (var one in awaited) Done(one.Command);
            Tell("finished", true);
            isFinished = true;
        }

        void Obey(object input)
        {
            var reason = Json.TextAt(input, "reason");
            switch (Json.TextAt(input, "do"))
            {
                case "start":
                    instance = Json.TextAt(input, "instance");
                    var environment = Json.At(input, "environment");
                    enrols = ServiceEnvironment.EnrolsIn(environment);
                    registration = ServiceEnvironment.RegistrationIn(Json.At(input, "registration"), environment);
                    dueAt = now;
                    string fault = null;
                    if (enrols) ServiceEnvironment.ListedPortsIn(environment, out fault);
                    if (fault != null) Tell("problem", fault);
                    return;
                case "clock":
                    wallAheadMs = Json.NumberAt(input, "aheadMs");
                    return;
                case "knock":
                    var text = Json.TextAt(input, "text");
                    // Ignore a knock with another beginning, because anybody may have sent it.
                    if (string.IsNullOrEmpty(awaitedKnock) || text == knock) return;
                    if (!text.StartsWith(awaitedKnock, StringComparison.Ordinal)) return;
                    knock = text;
                    Changed();
                    return;
                case "healthy":
                    isHealthy = Json.IsTrueAt(input, "isHealthy");
                    return;
                case "admit":
                    var admission = new Admission
                    {
                        Command = Json.NumberAt(input, "command"),
                        Token = Json.TextAt(input, "token"),
                        Until = now + SeatMs,
                    };
                    if (!Admit(admission)) admissions.Add(admission);
                    return;
                case "left":
                    var player = Json.TextAt(input, "player");
                    foreach (var one in matches)
                        if (one.Leave(player, Json.NumberAt(input, "mayReturnMs"), now)) Changed();
                    return;
                case "drain":
                    Drain(reason);
                    return;
                case "stop":
                    Drain(reason);
                    Stop(reason, true);
                    return;
                case "stopped":
                    Stopped();
                    return;
                default:
                    Obey(input, MatchOf(Json.TextAt(input, "match")));
                    return;
            }
        }

        /// Runs a command about a match: `open`, `refuse`, `over` or `seats`.
        void Obey(object input, ServedMatch match)
        {
            var what = Json.TextAt(input, "do");
            var command = Json.NumberAt(input, "command");
            if (what == "open" || what == "refuse")
            {
                if (match == null || match.Status == "over") return;
                if (what == "open" && match.Status != "loading") return;
                match.Status = what == "open" ? "open" : "refused";
                Changed();
            }
            else if (match == null) Fail(command, "match", "there is no such match");
            else if (what == "seats")
            {
                var teams = Json.At(input, "teams");
                var fault = match.FaultOfSeats(teams);
                if (fault != null)
                {
                    Fail(command, fault[0], fault[1]);
                    return;
                }
                var seats = Json.Object("open", Json.IsTrueAt(input, "open"));
                if (teams != null) seats["teams"] = teams;
                match.Seats = seats;
                Changed();
            }
            else EndByCommand(match, command, Json.At(input, "result"));
        }

        void EndByCommand(ServedMatch match, double command, object result)
        {
            if (match.Told == null)
            {
                var fault = match.FaultOf(result);
                if (fault != null)
                {
                    Fail(command, fault[0], fault[1]);
                    return;
                }
                match.Result = result;
                match.Status = "over";
                match.Seats = null;
                Changed();
                match.Told = revision;
            }
            if (match.Told <= acknowledged) Done(command);
            else awaited.Add(new Awaited { Revision = match.Told.Value, Command = command });
        }

        /// @returns true if the admission is decided
        bool Admit(Admission given)
        {
            object claims = null;
            var refused = key == null ? null : key.Read(given.Token, now + (musterAheadMs ?? wallAheadMs), out claims);
            var match = MatchOf(Json.TextAt(claims, "mid"));
            var hasPlace = match != null && match.Status != "over" && !isStopping;
            var player = hasPlace ? match.PlayerOf(claims) : null;
            if (player != null) refused = match.Enter(claims);
            if (player != null && refused == null)
            {
                Changed();
                Tell("admitted", given.Command, "player", player);
                return true;
            }
            if (refused == null && (now >= given.Until || isStopping)) refused = "other-match";
            if (refused == null) return false;
            Tell("refused", given.Command, "code", refused, "message", JoinToken.SentenceOf(refused));
            return true;
        }

        /// @param isHeard true if new orders have arrived. Otherwise only admissions whose time is over are decided
        void RetryAdmissions(bool isHeard)
        {
            foreach (var one in admissions.ToList())
                if ((isHeard || one.Until <= now) && Admit(one)) admissions.Remove(one);
        }
    }
}
