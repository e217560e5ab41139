using System.Collections.Generic;
using System.Globalization;

namespace Muster
{
    /// A machine without its connection: it is told answers and commands, and tells requests and states.
    public interface IMachine
    {
        /// @param at milliseconds of any clock that does not go backwards
        List<Dictionary<string, object>> Step(object input, double at);
    }

    /// What a refusal says: `status` (0: no answer came), `code`, `message`, and perhaps `field` and `retryAfterMs`.
    static class Refusal
    {
        public static Dictionary<string, object> Of(double status, string code, string message) =>
            Json.Object("status", status, "code", code, "message", message);

        /// What an answer says that is a refusal.
        public static Dictionary<string, object> In(double status, object body, double retryAfterMs)
        {
            var number = status.ToString("F0", CultureInfo.InvariantCulture);
            var refusal = Of(
                status,
                Json.TextAt(body, "code") ??
                    (status == 401 ? "unauthorized" : status == 0 ? "offline" : "http-" + number),
                Json.TextAt(body, "detail") ?? Json.TextAt(body, "message") ?? $"The answer was {number}.");
            if (Json.TextAt(body, "field") != null) refusal["field"] = Json.TextAt(body, "field");
            if (retryAfterMs > 0) refusal["retryAfterMs"] = retryAfterMs;
            return refusal;
        }
    }
}
