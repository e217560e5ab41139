using System.Collections.Generic;
using System.Globalization;

namespace Muster
{
    /// A machine without a connection. It gets responses and commands, and returns requests and states.
    public interface IMachine
    {
        /// @param at milliseconds of any clock that never goes back
        List<Dictionary<string, object>> Step(object input, double at);
    }

    /// Creates refusals: `status` (0: no response), `code`, `message`, and sometimes `field` and `retryAfterMs`.
    static class Refusal
    {
        public static Dictionary<string, object> Of(double status, string code, string message) =>
            Json.Object("status", status, "code", code, "message", message);

        /// Returns the refusal in an error response.
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
