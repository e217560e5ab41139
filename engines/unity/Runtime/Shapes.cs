using System;
using System.Collections.Generic;
using System.Linq;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// The expected types of Muster's responses, limited to the fields that are read.
    static class Shapes
    {
        /// The same in every language. A type with `?` may be null or missing. `[]` is a list of a type, and `{}` an
        /// object whose values have the type.
        static readonly Dictionary<string, string> Known = new Dictionary<string, string>
        {
            ["me"] = "tickets ticket[], groups member[], matches running[], seats seat[]?",
            ["ticket"] =
                "id text, profile text, status text, version count, group_id text?, " +
                "match_id text?, assignment assignment?, acceptance acceptance?, " +
                "cancel_reason text?, ended ended?, estimated_wait wait?",
            ["assignment"] = "fqdn text, ports object{}, location place?, join_token text?",
            ["place"] = "city text?",
            ["acceptance"] = "accepted boolean, until text",
            ["ended"] = "reason text",
            ["wait"] = "p50_seconds number, p90_seconds number?",
            ["member"] = "group_id text, member_id text, is_ready boolean, status text, ticket_id text?",
            ["group"] = "status text, members gathered[]",
            ["gathered"] = "player_id text, is_ready boolean",
            ["running"] = "match_id text, assignment assignment?",
            ["seat"] = "assignment assignment?",
            ["registered"] =
                "id text, alg text, key text, version count, want text, reason text?, matches order[], knock text?",
            ["orders"] = "version count, want text, reason text?, matches order[], knock text?",
            ["order"] = "id text, profile text, teams team[], equality object?, intersection object?",
            ["team"] = "name text, players roster[]",
            ["roster"] = "id text, ticket_id text, seat_id text?, attributes object?",
            ["claims"] = "aud text, sub text, mid text, sid text, team text?, grp text?, iat number, exp number",
            ["command"] = "id number, do text, token text?, player text?, mayReturnMs number?, match text?",
        };

        static readonly Dictionary<string, string[][]> Fields = Known.ToDictionary(
            shape => shape.Key,
            shape => shape.Value.Replace(", ", ",").Split(',').Select(one => one.Split(' ')).ToArray());

        /// Returns true if a value has this type. Otherwise it is no response of Muster.
        public static bool Fits(string type, object value)
        {
            if (type.EndsWith("?", StringComparison.Ordinal))
                return value == null || Fits(type.Substring(0, type.Length - 1), value);
            var of = type.Substring(0, type.Length - 2);
            if (type.EndsWith("[]", StringComparison.Ordinal))
                return value is List<object> && ((List<object>)value).All(item => Fits(of, item));
            if (type.EndsWith("{}", StringComparison.Ordinal))
                return value is Obj && ((Obj)value).Values.All(member => Fits(of, member));
            switch (type)
            {
                case "text": return value is string;
                case "boolean": return value is bool;
                case "number": return IsNumber(value);
                case "count":
                    return IsNumber(value) && (double)value >= 0 && (double)value <= 9007199254740991 &&
                        (double)value % 1 == 0;
                case "object": return value is Obj;
                default: return value is Obj && Fields[type].All(field => Fits(field[1], Json.At(value, field[0])));
            }
        }

        static bool IsNumber(object value) =>
            value is double && !double.IsNaN((double)value) && !double.IsInfinity((double)value);
    }
}
