using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// A match on a game server: its roster, the players who are on it, and its part of the reports.
    sealed class ServedMatch
    {
        public sealed class Attendant
        {
            /// `Seat` is null for a player who never came.
            public string Player, Seat;
            /// `in`, `away` or `left`. Null: the player has left and got another seat since.
            public string Status = "in";
            /// `iat` of the newest token.
            public double Iat;
            /// Epoch milliseconds until which the player's seat is kept.
            public double? Until;
        }

        const int LargestResultBytes = 8192;

        public readonly string Id;
        public readonly List<Attendant> Attendants = new List<Attendant>();
        public string Status = "loading";
        public object Seats, Result;
        /// The revision of the report with which Muster learns of the match's end.
        public double? Told;
        /// True if the game was notified of the end.
        public bool IsEnded;

        readonly string queue;
        readonly Obj attributes = new Obj();
        /// Players by id: those who were matched, and those who joined later.
        readonly Obj players = new Obj();
        /// The tickets of players, as far as Muster sends them.
        readonly Dictionary<string, string> tickets = new Dictionary<string, string>();
        /// The seats of the players in the newest orders; null if Muster does not send seats.
        readonly Dictionary<string, string> seats = new Dictionary<string, string>();
        Obj teams;

        public ServedMatch(object order)
        {
            Id = Json.TextAt(order, "id");
            queue = Json.TextAt(order, "profile");
            foreach (var kind in new[] { "equality", "intersection" })
                if (Json.At(order, kind) is Obj)
                    foreach (var member in (Obj)Json.At(order, kind)) attributes[member.Key] = member.Value;
            Update(order);
        }

        /// Returns the match as the game sees it.
        public Obj Seen => Json.Object("id", Id, "queue", queue, "attributes", attributes, "teams", teams);
        /// Returns the player with this seat, by the newest orders. A removed player has no seat. A new seat
        /// invalidates tokens of the previous one. For a player who has left without having come, the server waits
        /// for newer orders.
        /// @returns null if there is none
        public object PlayerOf(object claims)
        {
            var id = Json.TextAt(claims, "sub");
            var seat = Json.TextAt(claims, "sid");
            var before = Attendants.Find(one => one.Player == id);
            var hasLeft = before != null && before.Status == "left";
            // A player who has left with this seat is refused at once, without waiting for newer orders.
            if (before != null && before.Seat == seat && (hasLeft || before.Status == null))
                return Json.At(players, id);
            string own;
            var isGood = seats.TryGetValue(id, out own) && (own == null || own == seat);
            return !isGood || (hasLeft && before.Seat == null) ? null : Json.At(players, id);
        }

        /// Applies the roster of newer orders.
        /// @returns the players who are new or have joined again
        public List<object> Update(object order)
        {
            var all = Json.ItemsAt(order, "teams")
                .SelectMany(team => Json.ItemsAt(team, "players"))
                .Select(member => Json.TextAt(member, "ticket_id"))
                .ToLookup(ticket => ticket);
            var joined = new List<object>();
            teams = new Obj();
            seats.Clear();
            foreach (var team in Json.ItemsAt(order, "teams"))
            {
                var name = Json.TextAt(team, "name") ?? "";
                var members = new List<object>();
                foreach (var member in Json.ItemsAt(team, "players"))
                {
                    var ticket = Json.TextAt(member, "ticket_id");
                    seats[Json.TextAt(member, "id")] = Json.TextAt(member, "seat_id");
                    var player = Json.Object("id", Json.TextAt(member, "id"), "matchId", Id);
                    player["team"] = name == "" ? null : name;
                    player["groupId"] = all[ticket].Count() > 1 ? ticket : null;
                    player["attributes"] = Json.At(member, "attributes") ?? new Obj();
                    if (IsNew((string)player["id"], ticket)) joined.Add(player);
                    players[(string)player["id"]] = player;
                    members.Add(player);
                }
                teams[name] = members;
            }
            return joined;
        }

        bool IsNew(string player, string ticket)
        {
            string before;
            var isKnown = tickets.TryGetValue(player, out before);
            if (!string.IsNullOrEmpty(ticket)) tickets[player] = ticket;
            var isSame = !isKnown || string.IsNullOrEmpty(ticket) || before == ticket;
            if (players.ContainsKey(player) && isSame) return false;
            // A player who has left got another seat. Nothing is reported about the player until they enter with it.
            var left = Attendants.Find(one => one.Player == player && one.Status == "left");
            if (left != null) left.Status = null;
            return true;
        }

        /// @returns why the token's player is not admitted; null if the player is admitted
        public string Enter(object claims)
        {
            var player = Json.TextAt(claims, "sub");
            var seat = Json.TextAt(claims, "sid");
            var iat = Json.NumberAt(claims, "iat");
            var before = Attendants.Find(one => one.Player == player);
            if (before != null && before.Seat == seat)
            {
                var isFresh = before.Status == "away" ? iat >= before.Iat : iat > before.Iat;
                if (before.Status == "left" || before.Status == null || !isFresh) return "used";
            }
            if (before == null) Attendants.Add(before = new Attendant { Player = player });
            before.Seat = seat;
            before.Iat = iat;
            before.Status = "in";
            before.Until = null;
            return null;
        }

        /// Called when a player has left or will not come.
        /// @returns true if anything has changed
        public bool Leave(string player, double mayReturnMs, double now)
        {
            var before = Attendants.Find(one => one.Player == player);
            if (before == null && players.ContainsKey(player))
                Attendants.Add(before = new Attendant { Player = player });
            if (before == null || before.Status == "left" || before.Status == null) return false;
            before.Status = mayReturnMs > 0 ? "away" : "left";
            before.Until = mayReturnMs > 0 ? now + mayReturnMs : (double?)null;
            return true;
        }

        /// Returns the field of a result that Muster would refuse, and why; null if it is valid.
        public string[] FaultOf(object result)
        {
            if (result == null) return null;
            var members = result as Obj;
            if (members == null) return new[] { "result", "must be an object of `ranking` and `data`" };
            var unknown = members.Keys.FirstOrDefault(name => name != "ranking" && name != "data");
            if (unknown != null)
                return new[] { "result", $"has the unknown member {Json.Write(unknown)}: put it into `data`" };
            var ranks = Json.ItemsAt(result, "ranking");
            var areLists = !members.ContainsKey("ranking") || members["ranking"] is List<object>;
            if (!areLists || ranks.Any(rank => !(rank is List<object>)))
                return new[] { "ranking", "must be a list of lists of player ids" };
            var all = ranks.SelectMany(rank => (List<object>)rank).ToList();
            var isStranger = all.FindIndex(id => !(id is string) || !players.ContainsKey((string)id));
            var ranked = isStranger >= 0 ? new List<string>() : all.Cast<string>().ToList();
            var stranger = isStranger >= 0 ? all[isStranger] : null;
            if (isStranger >= 0) return new[] { "ranking", Json.Write(stranger) + " is not a player of the match" };
            var twice = ranked.Where((id, nth) => ranked.IndexOf(id) != nth).FirstOrDefault();
            if (twice != null) return new[] { "ranking", $"lists {Json.Write(twice)} twice" };
            if (ranks.Any(rank => ((List<object>)rank).Count == 0))
                return new[] { "ranking", "has a rank without players" };
            var bytes = Encoding.UTF8.GetByteCount(Json.Write(result));
            if (bytes <= LargestResultBytes) return null;
            return new[] { "data", $"the result must have at most {LargestResultBytes} bytes as JSON, got {bytes}" };
        }

        /// Returns the field of a seat request that Muster would refuse, and why; null if it is valid.
        public string[] FaultOfSeats(object wanted)
        {
            foreach (var team in wanted as Obj ?? new Obj())
            {
                var field = "teams." + team.Key;
                if (!teams.ContainsKey(team.Key)) return new[] { field, "the match has no such team" };
                var isWhole = team.Value is double && (double)team.Value >= 0 && (double)team.Value <= 1000;
                isWhole = isWhole && (double)team.Value % 1 == 0;
                if (!isWhole)
                    return new[] { field, "must be a whole number up to 1,000, got " + Json.Write(team.Value) };
            }
            return null;
        }

        /// Ends an unfinished match without a result. A match to which no player was sent yet goes to another server.
        public void GiveUp()
        {
            if (Status == "over") return;
            Status = Status == "open" ? "over" : "refused";
            Seats = null;
        }

        public Obj Report()
        {
            var statuses = new Obj();
            // Muster knows of players who have left and are no longer in its orders. In a long match these become many.
            foreach (var one in Attendants)
                if (one.Status != null && (one.Status != "left" || seats.ContainsKey(one.Player)))
                    statuses[one.Player] = one.Status;
            // A ranking may contain players who never came.
            foreach (var id in Json.ItemsAt(Result, "ranking").SelectMany(rank => (List<object>)rank).Cast<string>())
                if (!statuses.ContainsKey(id)) statuses[id] = "left";
            var made = Json.Object("id", Id, "status", Status, "players", statuses);
            if (Seats != null) made["seats"] = Seats;
            if (Result != null) made["result"] = Result;
            return made;
        }
    }
}
