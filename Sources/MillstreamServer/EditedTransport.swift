import HLSPlaylist
import HTTPTypes
public import MediaTiming
public import MediaTransport
public import PlaylistEditing
import PresentationLoading
public import ResourceAddressing

/// A transport that edits playlists at special addresses, as `/play.m3u8` of a ``LocalOrigin`` does, without a server.
///
/// A player that loads ``address(of:_:)`` through this transport receives the edited playlist, and each child playlist
/// with the edits that apply to it; media is loaded from its origin.
public struct EditedTransport: Transport {
    private let base: any Transport
    private let loader: ResourceLoader
    private let capacity = ServerCapacity(ServerLimits())
    private let time: any TimeSource
    private let presentations: PresentationStore?
    private let breaks = MemoryBreakStore()

    private let origin: String

    /// The origin of the special addresses: a host that is guaranteed not to exist (RFC 6761 §6.4).
    ///
    /// It is another one in each process, so that no remote document can name a special address, which may read local files.
    static let defaultOrigin: String = {
        let secret = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { String($0, radix: 16) }
        return "http://edited-\(secret.joined()).invalid"
    }()

    /// The path of the special addresses of parts of WebVTT files.
    private static let partPath = "/part.vtt"

    /// Returns the path and the query of the special address of a part of a WebVTT file.
    static func path(ofPart address: ResourceAddress) -> String {
        partPath + "?" + QueryItems([QueryItems.Item(name: "url", value: address.text)]).text
    }

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport for sources, media and all other resources.
    ///   - policy: The policy for retrying failed loads of sources.
    ///   - time: The clock.
    ///   - translatesDASH: A Boolean value that indicates whether DASH presentations are translated to HLS.
    public init(
        _ base: any Transport,
        policy: RecoveryPolicy,
        time: any TimeSource = SystemTimeSource(),
        translatesDASH: Bool = true
    ) {
        self.init(base, policy: policy, time: time, translatesDASH: translatesDASH, origin: Self.defaultOrigin)
    }

    /// Creates a transport whose special addresses have another origin.
    init(_ base: any Transport, policy: RecoveryPolicy, time: any TimeSource, translatesDASH: Bool, origin: String) {
        self.base = base
        self.origin = origin
        self.time = time
        presentations = translatesDASH ? PresentationStore(options: PresentationOptions(time: time)) : nil
        loader = ResourceLoader(base, policy: policy, time: time)
    }

    /// Returns the address of an edited playlist, valid only for this kind of transport.
    public static func address(of source: ResourceAddress, _ plan: EditPlan) -> ResourceAddress {
        address(of: source, plan, origin: defaultOrigin)
    }

    /// Returns the address of an edited playlist at an origin.
    static func address(of source: ResourceAddress, _ plan: EditPlan, origin: String) -> ResourceAddress {
        var request = PlaybackRequest(source: source, plan: plan, delivery: .redirect, variables: [:])
        request.base = origin
        return ResourceAddress(request.path)
    }

    /// Sends a request; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let text = request.address.text
        guard text.hasPrefix(origin + "/") else {
            guard let clip = SubtitleClip(of: request.address) else { return try await base.send(request) }
            return try await send(request.address, clip)
        }
        if request.address.path == Self.partPath, let url = QueryItems(request.address.query)["url"] {
            let address = ResourceAddress(url)
            if let clip = SubtitleClip(of: address) { return try await send(address, clip) }
        }
        guard request.address.path == "/play.m3u8" else {
            throw TransportError(.wrongContent, "not found", address: request.address)
        }
        let sent = time.now
        let bytes: [UInt8]
        // Messages name the source, since the special address is of no use outside this process.
        let source = QueryItems(request.address.query)["url"].map { ResourceAddress($0) } ?? request.address
        do {
            var wanted = try PlaybackRequest(QueryItems(request.address.query), allowsFiles: true)
            wanted.base = origin
            // A delegate is asked only for resources at its own addresses.
            wanted.mediaAddressing = origin == Self.defaultOrigin ? .origin : .originAndParts
            let handler = PlaybackRequestHandler(
                loader: loader,
                budget: try capacity.admit(),
                workers: .callingTask,
                presentations: presentations,
                breaks: breaks
            )
            bytes = try await handler.playlist(for: wanted)
        } catch  where error is ServerError || error is PlaylistEditError {
            let failure = ServerError(error)
            throw TransportError(Self.code(of: failure), failure.message, address: source, cause: failure)
        }
        var edited = response(bytes, from: request.address, sent)
        // Remote playlists that name files were refused when they were loaded; the files are those of local playlists.
        edited.mayNameFiles = true
        return edited
    }

    /// Returns the code of the error for a playlist that cannot be edited.
    ///
    /// A source that is no playlist, and an edit that does not fit the playlist, keep their own codes, and are not requested again,
    /// because they would fail again.
    private static func code(of failure: ServerError) -> TransportError.Code {
        switch failure.status {
        case .contentTooLarge: .tooLarge
        case .badRequest, .unsupportedMediaType: TransportError.Code(rawValue: failure.code)
        case .badGateway where PlaylistParsingError.Code(rawValue: failure.code) != nil:
            TransportError.Code(rawValue: failure.code)
        default: .wrongContent
        }
    }

    /// Returns a part of a WebVTT file.
    private func send(_ address: ResourceAddress, _ clip: SubtitleClip) async throws -> TransportResponse {
        let sent = time.now
        return response(clip.clipped(try await clip.loadSubtitles(at: address, loader)), from: address, sent)
    }

    private func response(_ bytes: [UInt8], from address: ResourceAddress, _ sent: Duration) -> TransportResponse {
        let record = TransferRecord(TransferMeasurement(requestStart: sent))
        record.update { $0.timeToFirstByte = time.now - sent }
        return TransportResponse(
            status: 200,
            headers: [],
            address: address,
            expectedLength: Int64(bytes.count),
            body: TransportBody(bytes).measured(by: record, time),
            record: record
        )
    }
}
