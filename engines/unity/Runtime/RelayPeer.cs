using System;
using System.Net.Sockets;

namespace Muster
{
    /// The state of a peer, as the relay reports it. `Lost`: the relay has not answered yet, or not for 10 s.
    public enum RelayState { Lost, Checking, Valid, Invalid, TimedOut, Error }

    /// A player's end of a relay session (docs/relay-packets.md), over UDP, which WebGL lacks. Datagrams may get
    /// lost, arrive twice, or change their order. Everything happens in Update.
    public sealed class RelayPeer : IDisposable
    {
        /// Maximum size of a payload in bytes.
        public const int MaxPayload = 1187;
        const int MaxDatagram = 1200, MaxReadsPerFrame = 1000;
        const double PingMs = 500, LostAfterMs = 10000;
        const byte Ping = 1, Data = 2;

        readonly bool isHost;
        readonly uint sessionToken, userToken;
        readonly UdpClient udp;
        // One byte more than the largest datagram, so that a longer one is detected.
        readonly byte[] buffer = new byte[MaxDatagram + 1];
        double heardAt, pingDueAt = double.NegativeInfinity;
        bool isClosed;

        /// Takes the credentials that a lobby gives to the player.
        /// @param isHost true if `role` is `host`
        /// @param host an address, or a name that is resolved before the constructor returns
        /// @throws SocketException if the name does not exist, or if there is no route
        public RelayPeer(bool isHost, string host, int port, uint sessionToken, uint userToken)
        {
            this.isHost = isHost;
            this.sessionToken = sessionToken;
            this.userToken = userToken;
            // A connected socket receives only the relay's datagrams.
            udp = new UdpClient(host, port);
            udp.Client.Blocking = false;
        }

        public RelayState State { get; private set; }
        /// After `Invalid` and `Error` nothing more is sent or read. Read the lobby then.
        public event Action<RelayState> StateChanged;
        /// Raised with a payload and the client that sent it; null for a payload of the host.
        public event Action<byte[], uint?> Received;

        bool IsOver => isClosed || State == RelayState.Invalid || State == RelayState.Error;

        /// Call it once per frame. Reads what has arrived, and pings every 500 ms. Does not block.
        /// @param nowMs milliseconds of a clock that never goes back
        public void Update(double nowMs)
        {
            // The limit ensures that a flood of datagrams does not delay the frame.
            for (var reads = 0; reads < MaxReadsPerFrame && !IsOver; reads++)
            {
                if (!udp.Client.Poll(0, SelectMode.SelectRead)) break;
                Read(nowMs);
            }
            if (!IsOver && nowMs - heardAt > LostAfterMs) Show(RelayState.Lost);
            if (IsOver || nowMs < pingDueAt) return;
            pingDueAt = nowMs + PingMs;
            Put(Packet(Ping, null, new byte[0]));
        }

        /// Sends nothing unless the state is `Valid`.
        /// @param connection the receiving client, as reported by `Received`; null if this peer is a client
        /// @throws ArgumentException for more than 1,187 bytes, or if `connection` does not fit the role
        public void Send(byte[] payload, uint? connection = null)
        {
            if (payload.Length > MaxPayload)
                throw new ArgumentException($"a payload has at most {MaxPayload} bytes, got {payload.Length}");
            if (connection.HasValue != isHost)
                throw new ArgumentException(isHost ? "a host sends to a connection" : "a client has no connections");
            if (State == RelayState.Valid && !isClosed) Put(Packet(Data, connection, payload));
        }

        /// The protocol has no message for this. The relay ends the connection after some silence.
        public void Dispose()
        {
            isClosed = true;
            udp.Close();
        }

        void Read(double nowMs)
        {
            int length;
            try
            {
                length = udp.Client.Receive(buffer);
            }
            catch (SocketException)
            {
                // Either nobody listens on the port, which shows by silence, or a datagram is too long.
                return;
            }
            var header = isHost ? 5 : 1;
            if (length == 2 && buffer[0] == Ping && buffer[1] >= 1 && buffer[1] <= 5)
            {
                heardAt = nowMs;
                Show((RelayState)buffer[1]);
            }
            else if (length >= header && length <= MaxDatagram && buffer[0] == Data)
            {
                heardAt = nowMs;
                var payload = new byte[length - header];
                Array.Copy(buffer, header, payload, 0, payload.Length);
                Received?.Invoke(payload, isHost ? ReadNumber(1) : (uint?)null);
            }
        }

        void Show(RelayState next)
        {
            if (next == State) return;
            State = next;
            StateChanged?.Invoke(next);
        }

        byte[] Packet(byte kind, uint? connection, byte[] payload)
        {
            var header = connection.HasValue ? 13 : 9;
            var packet = new byte[header + payload.Length];
            WriteNumber(packet, 0, userToken);
            WriteNumber(packet, 4, sessionToken);
            packet[8] = kind;
            if (connection.HasValue) WriteNumber(packet, 9, connection.Value);
            Array.Copy(payload, 0, packet, header, payload.Length);
            return packet;
        }

        void Put(byte[] packet)
        {
            try
            {
                udp.Client.Send(packet);
            }
            catch (SocketException)
            {
                // A packet that cannot be sent counts as lost.
            }
        }

        uint ReadNumber(int at) =>
            buffer[at] | (uint)buffer[at + 1] << 8 | (uint)buffer[at + 2] << 16 | (uint)buffer[at + 3] << 24;

        static void WriteNumber(byte[] packet, int at, uint number)
        {
            for (var nth = 0; nth < 4; nth++) packet[at + nth] = (byte)(number >> 8 * nth);
        }
    }
}
