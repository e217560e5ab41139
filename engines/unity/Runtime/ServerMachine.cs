using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// The game server's logic without a connection, like packages/game-server. Inputs are responses and commands,
    /// outputs are requests and orders, as in engines/server-transcript.jsonl. It reads no clock, sends nothing and
    /// draws no random numbers.
    public sealed partial class ServerMachine : IMachine
    {
        /// Seconds for which a report may wait for new orders, i.e. the time between two heartbeats.
        const int WaitSeconds = 10;
        /// Minimum milliseconds between two reports. Muster accepts 50 reports in 5 s.
        const double GapMs = 200;
        /// Number of reports after a registration that are sent without this minimum distance, so that a new server
        /// takes its first match at once.
        const int EagerReports = 3;
        /// The first and the longest delay after a failure, in milliseconds.
        const double FirstPauseMs = 500, LongestPauseMs = 15000;
        /// Smaller differences of the clocks in milliseconds are ignored, because the header has whole seconds.
        const double ClockToleranceMs = 2000;
        /// Milliseconds for which the server waits for an unknown seat.
        const double SeatMs = 2000;
        /// Milliseconds in which the game must end, and in which the last report must be answered after a signal.
        const double GraceMs = 25000, LastWordMs = 2000;

        sealed class Request
        {
            public double Number, Revision;
            public bool IsRegistration;
            /// True if Muster may hold the response.
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
        /// True if the server enrols in a pool. Below, the token that it got for the key; null: none.
        bool enrols;
        string token;
        /// The expected beginning of Muster's knock, and the received knock; null: none.
        string awaitedKnock, knock;
        readonly List<ServedMatch> matches = new List<ServedMatch>();
        readonly List<Awaited> awaited = new List<Awaited>();
        readonly List<Admission> admissions = new List<Admission>();
        JoinToken key;
        /// Milliseconds by which Muster's clock is ahead; null until a response had a date.
        double? musterAheadMs;
        /// Milliseconds by which the machine's wall clock was set ahead since the start.
        double wallAheadMs;
        bool isHealthy = true, isDraining, isStopping, isOwnWish, isFinished;
        /// Revision of the server's state, and the last one that Muster has acknowledged.
        double revision, acknowledged;
        double seq, requests;
        /// Version of the orders. Null: the server is not registered.
        double? version;
        int failures;
        /// True if the next report is the first one since the registration.
        bool isFirst;
        /// Number of registrations in a row whose first report was refused, e.g. with two Musters at one address.
        int unheld;
        int eager;
        Request request;
        /// Time of the next request, if none is in flight.
        double? dueAt;
        double spokeAt = -GapMs;
        double? stopUntil;
        double? lastWordUntil;
        double lastWordRevision;
        double? wakeAt;

        /// @param random returns 0 to 1, to spread requests that many servers would otherwise send at the same moment
        public ServerMachine(Func<double> random)
        {
            this.random = random;
        }

        /// @param at epoch milliseconds of a clock that never goes back
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

        /// Called when the server's state has changed. The change is reported at once.
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
                isFirst = sent.IsRegistration;
                if (!isFirst) unheld = 0;
                if (sent.IsRegistration && seq == 0) eager = EagerReports;
                SpeakIn(0);
                Follow(body);
                // The next report has to tell the state of the matches.
                if (sent.IsRegistration) revision += 1;
                if (lastWordUntil != null && acknowledged >= lastWordRevision) Finish();
                return;
            }
            // Muster's master secret has changed, e.g. because Muster restarted without a store.
            var isStranger = status == 401 && token != null;
            if (isStranger) token = null;
            if (isStranger || (status == 409 && !sent.IsRegistration))
            {
                version = null;
                failures = isFirst ? unheld : 0;
                if (!isFirst)
                {
                    SpeakIn(0);
                    return;
                }
                unheld += 1;
            }
            isFirst = false;
            var longest = Math.Min(FirstPauseMs * Math.Pow(2, failures), LongestPauseMs);
            failures += 1;
            var wanted = Math.Min(Json.NumberAt(input, "retryAfterMs"), Machine.LongestRetryMs);
            SpeakIn(Math.Max(wanted, random() * longest));
            var said = Json.TextAt(body, "detail") ?? Json.TextAt(body, "message");
            if (status == 410) Stop(said ?? "no longer needed", false);
            else
            {
                var why = isGood ? null : said;
                Tell("problem", FaultOf(status, why, Json.TextAt(body, "field"), isStranger, sent.IsRegistration));
            }
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

        /// Returns a sentence about a response that contains no orders. It quotes nothing that this server has sent.
        string FaultOf(double status, string said, string field, bool isStranger, bool isRegistration)
        {
            var number = status.ToString("F0", CultureInfo.InvariantCulture);
            if (status == 0)
                return "Muster does not answer. The game continues; the state is sent once Muster answers.";
            if (status == 401 && !isStranger)
                return $"Muster does not know {(enrols ? "MUSTER_ENROL_KEY" : "MUSTER_SERVER_TOKEN")} (401).";
            if (said == null)
                return $"The answer of MUSTER_URL is not from Muster ({number}): is there a proxy in between?";
            var where = field == null ? "" : ", " + field;
            var what = isRegistration ? (enrols ? "the enrolment" : "the registration") : "a report";
            return $"Muster refuses {what} ({number}{where}): {said}";
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
