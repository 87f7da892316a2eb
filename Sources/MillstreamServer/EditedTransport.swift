import HLSPlaylist
public import MediaTiming
public import MediaTransport
public import PlaylistEditing
public import ResourceAddressing

/// A transport with addresses at which playlists are edited: what `/play.m3u8` of a ``LocalOrigin`` does, without a server.
///
/// Whoever plays ``address(of:_:)`` through it gets the edited playlist, and below it every playlist with the edits that are left;
/// media comes from where it is.
public struct EditedTransport: Transport {
    private let base: any Transport
    private let playback: EditedPlayback
    private let time: any TimeSource

    /// A host that can be none (RFC 6761 §6.4).
    private static let origin = "http://edited.invalid"

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - base: Where sources and media come from, and everything that is not edited.
    ///   - policy: How often is tried to load a source.
    ///   - time: The clock.
    public init(_ base: any Transport, policy: LoadErrorPolicy, time: any TimeSource = SystemTimeSource()) {
        self.base = base
        self.time = time
        playback = EditedPlayback(loading: ResourceLoading(base, policy: policy, time: time))
    }

    /// The address of what a plan makes of a playlist; good for this kind of transport only.
    public static func address(of source: ResourceAddress, _ plan: EditPlan) -> ResourceAddress {
        var request = PlaybackRequest(source: source, plan: plan, delivery: .redirect, variables: [:])
        request.base = origin
        return ResourceAddress(request.path)
    }

    /// Asks for a resource; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let text = request.address.text
        guard text.hasPrefix(Self.origin + "/") else { return try await base.send(request) }
        guard request.address.path == "/play.m3u8" else {
            throw TransportError(.wrongContent, "there is nothing at this address", address: request.address)
        }
        let sent = time.now
        let bytes: [UInt8]
        do {
            var wanted = try PlaybackRequest(QueryItems(request.address.query), allowsFiles: true)
            wanted.base = Self.origin
            bytes = try await playback.playlist(for: wanted).bytes
        } catch let error as ServerError {
            throw TransportError(.wrongContent, error.message, address: request.address)
        } catch let error as PlaylistEditError {
            throw TransportError(.wrongContent, error.description, address: request.address)
        }
        let record = TransferRecord(TransferMeasurement(sent: sent))
        record.update { $0.firstByte = time.now - sent }
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: Int64(bytes.count),
            body: TransportBody(bytes).measured(by: record, time),
            record: record
        )
    }
}
