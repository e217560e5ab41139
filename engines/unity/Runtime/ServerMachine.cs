using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// A game server without its connection, as packages/game-server does it: answers and commands in, requests and
    /// orders out. It reads no clock, sends nothing and draws no random number of its own. Inputs and outputs are those
    /// of engines/server-transcript.jsonl.
    public sealed partial class ServerMachine : IMachine
    {
        /// Seconds for which a report waits for other orders: the time between two heartbeats.
        const int WaitSeconds = 10;
        /// Milliseconds between two reports at least: Muster takes 50 in 5 s.
        const double GapMs = 200;
        /// Reports after a registration that need no gap: with them, a server that has just come takes its first match.
        const int EagerReports = 3;
        /// Milliseconds of the first and of the longest pause after a failure.
        const double FirstPauseMs = 500, LongestPauseMs = 15000;
        /// A difference of the clocks of fewer milliseconds is none: the header has whole seconds.
        const double ClockToleranceMs = 2000;
        /// Milliseconds for which a seat that is not known yet is waited for.
        const double SeatMs = 2000;
        /// Milliseconds that the game has to end, and for which the last report is waited for after a signal.
        const double GraceMs = 25000, LastWordMs = 2000;

        sealed class Request
        {
            public double Number, Revision;
            public bool IsRegistration;
            /// Whether Muster may hold the answer.
            public bool IsWaiting;
        }

        sealed class Awaited
        {
            public double Revision, Command;
        }

        sealed class Admission
        {
            public double Command, Until;
            public string Token;
        }

        readonly Func<double> random;
        List<Obj> output = new List<Obj>();
        double now;
        string instance;
        object registration;
        /// Whether it adds itself to a pool, and the token that it was given for the key; null: none.
        bool enrols;
        string token;
        /// How the datagram begins by which Muster knocks, and the whole; null: none.
        string awaitedKnock, knock;
        readonly List<ServedMatch> matches = new List<ServedMatch>();
        readonly List<Awaited> awaited = new List<Awaited>();
        readonly List<Admission> admissions = new List<Admission>();
        JoinToken key;
        /// By how much Muster's clock is ahead, in milliseconds; null until an answer has told its date.
        double? musterAheadMs;
        /// By how much the machine's clock is ahead, as it was set since the start.
        double wallAheadMs;
        bool isHealthy = true, isDraining, isStopping, isOwnWish, isFinished;
        /// Of the state, and of what Muster has of it.
        double revision, acknowledged;
        double seq, requests;
        /// Of the orders; null: the server is not registered.
        double? version;
        int failures;
        int eager;
        Request request;
        /// When the next request is sent, if none is under way.
        double? dueAt;
        double spokeAt = -GapMs;
        double? stopUntil;
        double? lastWordUntil;
        double lastWordRevision;
        double? wakeAt;

        /// @param random from 0 to 1: spreads what many servers would otherwise do at the same moment
        public ServerMachine(Func<double> random)
        {
            this.random = random;
        }

        /// @param at epoch milliseconds, of a clock that does not go backwards
        public List<Obj> Step(object input, double at)
        {
            now = Math.Max(now, at);
            output = new List<Obj>();
            if (isFinished) return output;
            if (Json.TextAt(input, "do") != null) Obey(input);
            else if (Json.At(input, "answer") != null) Take(input);
            Wake();
            if (dueAt <= now) Send();
            var next = NextWake();
            if (next != wakeAt) Tell("wakeAt", next);
            wakeAt = next;
            return output;
        }

        void Tell(params object[] namesAndValues) => output.Add(Json.Object(namesAndValues));
        void Done(double command) => Tell("done", command);
        void Fail(double command, string field, string said) =>
            Tell("failed", command, "field", field, "message", $"{field}: {said}");
        ServedMatch MatchOf(string id) => matches.Find(one => one.Id == id);
        void End(ServedMatch match, string reason)
        {
            if (!match.IsEnded) Tell("ended", match.Id, "reason", reason);
            match.IsEnded = true;
        }

        /// The state has changed: it is sent at once.
        void Changed()
        {
            revision += 1;
            if (request == null || !request.IsWaiting) return;
            Tell("abort", request.Number);
            request = null;
            SpeakIn(0);
        }
        void SpeakIn(double ms)
        {
            var gap = eager > 0 && version != null ? 0 : GapMs;
            dueAt = Math.Max(now + ms, spokeAt + gap);
        }
        void Acknowledge(double upTo)
        {
            acknowledged = upTo;
            foreach (var one in awaited)
                if (one.Revision <= upTo) Done(one.Command);
            awaited.RemoveAll(one => one.Revision <= upTo);
        }

        void Send()
        {
            dueAt = null;
            spokeAt = now;
            requests += 1;
            var isRegistration = version == null;
            eager = isRegistration ? 0 : Math.Max(0, eager - 1);
            var waits = !isRegistration && revision == acknowledged;
            request = new Request
            {
                Number = requests,
                IsRegistration = isRegistration,
                IsWaiting = waits,
                Revision = revision,
            };
            var body = Json.Object("instance", instance);
            var path = "/servers";
            if (isRegistration)
            {
                foreach (var member in (Obj)registration) body[member.Key] = member.Value;
            }
            else
            {
                seq += 1;
                body["seq"] = seq;
                body["healthy"] = isHealthy;
                body["draining"] = isDraining;
                body["matches"] = matches.Select(one => (object)one.Report()).ToList();
                var attributes = Json.At(registration, "attributes");
                if (attributes != null) body["attributes"] = attributes;
                if (knock != null) body["knock"] = knock;
                path += "/me";
                var known = version.Value.ToString("F0", CultureInfo.InvariantCulture);
                if (waits) path += $"?wait={WaitSeconds}&version={known}";
            }
            var waitMs = waits ? WaitSeconds * 1000.0 : 0;
            var method = isRegistration ? "POST" : "PUT";
            Tell("request", requests, "method", method, "path", path, "body", body, "waitMs", waitMs);
            if (token != null) output[output.Count - 1]["token"] = token;
        }

        void Take(object input)
        {
            if (request == null || request.Number != Json.NumberAt(input, "answer")) return;
            var sent = request;
            request = null;
            var status = Json.NumberAt(input, "status");
            var body = Json.At(input, "body");
            CompareClocks(Json.TextAt(input, "date"));
            var isGood = status == 200 || status == 201;
            if (isGood && Shapes.Fits(sent.IsRegistration ? "registered" : "orders", body))
            {
                if (!sent.IsRegistration) Acknowledge(sent.Revision);
                else
                    key = new JoinToken
                    {
                        Alg = Json.TextAt(body, "alg"),
                        Key = JoinToken.FromBase64Url(Json.TextAt(body, "key")),
                        Server = Json.TextAt(body, "id"),
                    };
                if (sent.IsRegistration && enrols) token = Json.TextAt(body, "token") ?? token;
                version = Json.NumberAt(body, "version");
                failures = 0;
                if (sent.IsRegistration) eager = EagerReports;
                SpeakIn(0);
                Follow(body);
                // What the server has to say of its matches, it says with the next report.
                if (sent.IsRegistration) revision += 1;
                if (lastWordUntil != null && acknowledged >= lastWordRevision) Finish();
                return;
            }
            // Muster has another secret than before, as one without a store after a restart.
            var isStranger = status == 401 && token != null;
            if (isStranger) token = null;
            if (isStranger || (status == 409 && !sent.IsRegistration))
            {
                version = null;
                failures = 0;
                SpeakIn(0);
                return;
            }
            var longest = Math.Min(FirstPauseMs * Math.Pow(2, failures), LongestPauseMs);
            failures += 1;
            var wanted = Math.Min(Json.NumberAt(input, "retryAfterMs"), Machine.LongestRetryMs);
            SpeakIn(Math.Max(wanted, random() * longest));
            var said = Json.TextAt(body, "detail") ?? Json.TextAt(body, "message");
            if (status == 410) Stop(said ?? "no longer needed", false);
            else Tell("problem", FaultOf(status, isGood ? null : said, Json.TextAt(body, "field")));
        }

        void CompareClocks(string date)
        {
            DateTimeOffset told;
            var isDate = DateTimeOffset.TryParseExact(
                date, "r", CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out told);
            if (!isDate) return;
            var ahead = told.ToUnixTimeMilliseconds() - now;
            musterAheadMs = Math.Abs(ahead) < ClockToleranceMs ? 0 : ahead;
        }

        /// A sentence about an answer that is no order. It holds nothing that this server has sent.
        string FaultOf(double status, string said, string field)
        {
            var number = status.ToString("F0", CultureInfo.InvariantCulture);
            if (status == 0)
                return "Muster does not answer. The game continues; the state is sent once Muster answers.";
            if (status == 401)
                return $"Muster does not know {(enrols ? "MUSTER_ENROL_KEY" : "MUSTER_SERVER_TOKEN")} (401).";
            if (said == null)
                return $"The answer of MUSTER_URL is not from Muster ({number}): is there a proxy in between?";
            var where = field == null ? "" : ", " + field;
            return $"Muster refuses a report ({number}{where}): {said}";
        }

        void Wake()
        {
            foreach (var one in matches.SelectMany(match => match.Attendants).Where(one => one.Until <= now).ToList())
            {
                one.Until = null;
                one.Status = "left";
                Changed();
            }
            RetryAdmissions(false);
            if (stopUntil <= now) Stopped();
            if (!isFinished && lastWordUntil <= now) Finish();
        }

        double? NextWake()
        {
            if (isFinished) return null;
            var times = new List<double?> { dueAt, stopUntil, lastWordUntil };
            times.AddRange(admissions.Select(one => (double?)one.Until));
            times.AddRange(matches.SelectMany(match => match.Attendants).Select(one => one.Until));
            return times.Min();
        }
    }
}
