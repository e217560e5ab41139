using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text.RegularExpressions;
using Obj = System.Collections.Generic.Dictionary<string, object>;

namespace Muster
{
    /// A port of the deployment: the server listens at Internal, and players connect to External.
    public sealed class ServerPort
    {
        public readonly int Internal, External;
        /// `TCP`, `UDP`, `TCP/UDP`, `HTTP`, `HTTPS`, `WS` or `WSS`.
        public readonly string Protocol;

        internal ServerPort(double inside, double outside, string protocol)
        {
            Internal = (int)inside;
            External = (int)outside;
            Protocol = protocol;
        }
    }

    /// Reads the environment variables that the deployment service, or whoever starts the process, sets for a game
    /// server.
    static class ServiceEnvironment
    {
        static readonly string[] KnownPrefixes = { "SERVICE", "ARBITRIUM" };

        /// The variables of this process.
        public static Obj OfProcess()
        {
            var made = new Obj();
            foreach (DictionaryEntry one in Environment.GetEnvironmentVariables()) made[(string)one.Key] = one.Value;
            return made;
        }

        /// Returns the prefix of the deployment service's variables. It is MUSTER_SERVICE_PREFIX, if set. Otherwise
        /// it is the known prefix whose variable _REQUEST_ID exists, or else SERVICE.
        static string PrefixIn(object environment)
        {
            var given = Json.TextAt(environment, "MUSTER_SERVICE_PREFIX");
            if (!string.IsNullOrEmpty(given)) return given;
            var known = KnownPrefixes.FirstOrDefault(
                prefix => !string.IsNullOrEmpty(Json.TextAt(environment, prefix + "_REQUEST_ID")));
            return known ?? "SERVICE";
        }

        /// The part of DELETE_URL's path before the request id. An access point's id follows the request id.
        const string BeforeId = "/self/stop/";

        /// Returns the request id of the deployment in which this process runs: SERVICE_REQUEST_ID, or else the one
        /// in SERVICE_DELETE_URL. Null outside of a deployment.
        static string DeploymentIn(object environment)
        {
            var prefix = PrefixIn(environment);
            var id = Json.TextAt(environment, prefix + "_REQUEST_ID");
            if (!string.IsNullOrEmpty(id)) return id;
            var url = Json.TextAt(environment, prefix + "_DELETE_URL") ?? "";
            var from = url.LastIndexOf(BeforeId, StringComparison.Ordinal);
            if (from < 0) return null;
            from += BeforeId.Length;
            var to = url.IndexOf('/', from);
            return to > from ? url.Substring(from, to - from) : null;
        }

        /// Returns true if the process enrols in a pool with a key, because Muster has not started it.
        public static bool EnrolsIn(object environment) =>
            !string.IsNullOrEmpty(Json.TextAt(environment, "MUSTER_ENROL_KEY"));

        static readonly Regex ListedPort =
            new Regex(@"^\s*([A-Za-z0-9_-]{1,64})=([0-9]{1,5})(?:/([A-Za-z0-9_/]+))?\s*\z");

        /// Returns the ports of MUSTER_SERVER_PORTS by name, e.g. of `game=7777/udp,web=8080/tcp`.
        /// @param fault a malformed entry, which is omitted; null if there is none
        public static Dictionary<string, ServerPort> ListedPortsIn(object environment, out string fault)
        {
            var ports = new Dictionary<string, ServerPort>();
            fault = null;
            foreach (var text in (Json.TextAt(environment, "MUSTER_SERVER_PORTS") ?? "").Split(','))
            {
                if (text.Trim() == "") continue;
                var parts = ListedPort.Match(text);
                var port = NumberIn(parts.Groups[2].Value);
                if (port == null || port == 0)
                {
                    fault = $"MUSTER_SERVER_PORTS: must be such as game=7777/udp, got {Json.Write(text)}";
                    continue;
                }
                var protocol = parts.Groups[3].Success ? parts.Groups[3].Value.ToUpperInvariant() : "UDP";
                ports[parts.Groups[1].Value] = new ServerPort(port.Value, port.Value, protocol);
            }
            return ports;
        }

        /// Returns the machine and the slot: MUSTER_SERVER_NAME, or else the host name and the first port (or the
        /// process id).
        static string ServerNameIn(object environment, Dictionary<string, ServerPort> ports)
        {
            var given = Json.TextAt(environment, "MUSTER_SERVER_NAME");
            if (!string.IsNullOrEmpty(given)) return given;
            var slot = ports.Count > 0 ? ports.First().Value.External : Process.GetCurrentProcess().Id;
            return $"{Environment.MachineName}:{slot}";
        }

        /// Returns the ports by name. They come from SERVICE_PORTS_MAPPING or, without it, from
        /// SERVICE_PORT_{NAME}_INTERNAL, _EXTERNAL and _PROTOCOL, with names in lower case. With MUSTER_ENROL_KEY,
        /// they come from MUSTER_SERVER_PORTS.
        public static Dictionary<string, ServerPort> PortsIn(object environment)
        {
            string fault;
            if (EnrolsIn(environment)) return ListedPortsIn(environment, out fault);
            var ports = new Dictionary<string, ServerPort>();
            var prefix = PrefixIn(environment);
            var mapping = Json.At(Json.Parse(Json.TextAt(environment, prefix + "_PORTS_MAPPING")), "ports") as Obj;
            foreach (var port in mapping ?? new Obj())
            {
                var listening = PortOf(Json.At(port.Value, "internal"));
                if (listening == null) continue;
                var outside = PortOf(Json.At(port.Value, "external")) ?? listening;
                var protocol = Json.TextAt(port.Value, "protocol") ?? "UDP";
                ports[port.Key] = new ServerPort(listening.Value, outside.Value, protocol);
            }
            if (mapping != null) return ports;
            string before = prefix + "_PORT_", after = "_INTERNAL";
            foreach (var one in environment as Obj ?? new Obj())
            {
                var isInternal = one.Key.StartsWith(before, StringComparison.Ordinal) &&
                    one.Key.EndsWith(after, StringComparison.Ordinal) && one.Key.Length > before.Length + after.Length;
                var listening = isInternal ? NumberIn(one.Value as string) : null;
                if (listening == null) continue;
                var name = one.Key.Substring(before.Length, one.Key.Length - before.Length - after.Length);
                var outside = NumberIn(Json.TextAt(environment, before + name + "_EXTERNAL")) ?? listening;
                var protocol = Json.TextAt(environment, before + name + "_PROTOCOL") ?? "UDP";
                ports[name.ToLowerInvariant()] = new ServerPort(listening.Value, outside.Value, protocol);
            }
            return ports;
        }

        /// Returns the body of the registration: the game's fields, the deployment and the ports on which the server
        /// listens. If the server enrols in a pool, it also contains its name and address.
        public static Obj RegistrationIn(object registration, object environment)
        {
            var made = new Obj((Obj)registration);
            var ports = PortsIn(environment);
            if (EnrolsIn(environment))
            {
                var reached = new Obj();
                foreach (var port in ports)
                    reached[port.Key] = Json.Object(
                        "port", (double)port.Value.External, "protocol", port.Value.Protocol);
                var address = Json.Object("ports", reached);
                var host = Json.TextAt(environment, "MUSTER_SERVER_ADDRESS");
                if (!string.IsNullOrEmpty(host)) address["host"] = host;
                made["name"] = ServerNameIn(environment, ports);
                made["address"] = address;
                return made;
            }
            var deployment = DeploymentIn(environment);
            if (deployment != null) made["deployment"] = deployment;
            var listening = new Obj();
            foreach (var port in ports) listening[port.Key] = (double)port.Value.Internal;
            if (listening.Count > 0) made["ports"] = listening;
            return made;
        }

        static double? PortOf(object value)
        {
            var isPort = value is double && (double)value >= 0 && (double)value <= 65535 && (double)value % 1 == 0;
            return isPort ? (double)value : (double?)null;
        }

        static double? NumberIn(string text)
        {
            var isWhole = !string.IsNullOrEmpty(text) && text.Length <= 5 && text.All(one => one >= '0' && one <= '9');
            return isWhole ? PortOf(double.Parse(text)) : null;
        }
    }
}
