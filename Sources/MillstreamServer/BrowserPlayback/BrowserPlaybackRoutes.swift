import AssetStorage
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import StreamingEngine
import Synchronization

/// The routes that the console uses to play streams with Media Source Extensions, and to show the subtitles of streams
/// that a browser plays itself.
///
/// Each request names a playback address of this server, whose playlist is loaded and edited as for any player.
final class BrowserPlaybackRoutes: Sendable {
    let media: MediaRoutes
    /// The repackager of segments that are not movie fragments; `nil` to refuse these segments.
    let repackager: (any SegmentRepackager)?
    /// The media playlists in the versions that the page has received, by playback address.
    private let readers = Mutex(RecentlyUsedValues<String, LoadedMedia>(maximumSize: ByteCount(64 << 20)))

    init(media: MediaRoutes, repackager: (any SegmentRepackager)?) {
        self.media = media
        self.repackager = repackager
    }

    /// The faults that are simulated for all players, including the player of the console.
    private var faults: FaultInjection { FaultInjection(media.faults) }

    /// The path below which the routes are.
    static let path = "/api/playback/"

    /// Adds the routes to a group that admits only the owner.
    func add(to group: RouterGroup<ServerRequestContext>) {
        group.get("api/playback/playlist", use: playlist)
        group.get("api/playback/segment", use: segment)
        group.get("api/playback/timestamp", use: timestamp)
        group.get("api/playback/cues", use: cues)
    }

    /// The maximum size of a segment, which is in memory several times while it is converted.
    private static let maximumSegmentSize = ByteCount(64 << 20)

    /// Returns the playback address that a request for these routes names.
    ///
    /// - Throws: ``ServerError`` with 400 if it names none.
    static func playbackAddress(_ query: QueryItems) throws -> ResourceAddress {
        guard let address = query["address"], address.hasPrefix("/"), !address.hasPrefix("//") else {
            throw ServerError(.badRequest, "missing-address", "address must be a playback address of this server")
        }
        return ResourceAddress(address)
    }

    // MARK: Playlists

    @Sendable private func playlist(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let address = try Self.playbackAddress(QueryItems(request.uri.query))
        return try await faults.response(toRequestOf: FaultInjection.path(of: address.path, address.query), context) {
            try await playlist(at: address, context)
        }
    }

    private func playlist(at address: ResourceAddress, _ context: ServerRequestContext) async throws -> Response {
        let budget = try media.environment.capacity.admit()
        let limit = media.environment.capacity.limits.editing.result.byteCount
        let bytes = try await ClientPresence.whileClientIsConnected { [self] in
            let loaded = try await load(address, context, budget)
            return try await media.environment.workers.run { check in
                try check()
                return try Self.report(of: loaded, limit: limit)
            }
        }
        try budget.reserve(bytes.count)
        return .json(bytes, budget: budget)
    }

    /// Returns the report of a playlist as JSON.
    private static func report(of loaded: Loaded, limit: Int) throws -> [UInt8] {
        let report =
            switch loaded {
            case .multivariant(let playlist): BrowserPlaybackReport.report(of: playlist)
            case .media(let media): BrowserPlaybackReport.report(of: media.reader.playlist)
            }
        do throws(ReportLimitError) {
            return try report.json(limit: limit)
        } catch {
            throw ServerError(.contentTooLarge, "report-too-large", error.description)
        }
    }

    /// A media playlist whose segments can be read.
    private struct LoadedMedia: Sendable {
        let reader: MediaReader
        let source: LoadedPlaylist
    }

    /// A loaded playlist.
    private enum Loaded {
        case multivariant(MultivariantPlaylist)
        case media(LoadedMedia)
    }

    /// Loads the playlist of a playback address; a media playlist is stored for the requests for its segments.
    private func load(
        _ address: ResourceAddress,
        _ context: ServerRequestContext,
        _ budget: RequestBudget
    ) async throws -> Loaded {
        let loaded = try await media.playlist(for: address, context, budget)
        switch loaded.playlist {
        case .multivariant(let playlist): return .multivariant(playlist)
        case .media(let playlist):
            let faults = self.media.faults
            let loader = loaded.loader.wrappingTransport { base in
                KeyFaultTransport(base: base, settings: faults, path: { loaded.requestPath(of: $0) })
            }
            let reader = try await self.media.environment.workers.run { _ in
                MediaReader(playlist, loader: loader, maximumSegmentSize: Self.maximumSegmentSize)
            }
            // The index of a playlist is smaller than its text.
            let size = playlist.bytes.count *| 2 +| address.text.utf8.count +| 4_096
            let media = LoadedMedia(reader: reader, source: loaded)
            readers.withLock { $0.insert(media, size: size, for: address.text) }
            return .media(media)
        }
    }

    // MARK: Segments

    /// The segment that a request names.
    private struct NamedSegment {
        let media: LoadedMedia
        let position: Int

        var reader: MediaReader { media.reader }
        var segment: MediaSegment { reader.playlist.segments[position] }
        /// The path with which other players request the segment.
        var requestPath: String { media.source.requestPath(of: segment.address) }
    }

    /// Returns the segment with the media sequence number that a request names.
    private func namedSegment(
        _ query: QueryItems,
        _ context: ServerRequestContext,
        _ budget: RequestBudget
    ) async throws -> NamedSegment {
        let address = try Self.playbackAddress(query)
        guard let number = query["segment"].flatMap({ Int64($0) }) else {
            throw ServerError(.badRequest, "missing-segment", "segment must be a media sequence number")
        }
        if let known = readers.withLock({ $0.use(address.text) }), let found = Self.segment(number, known) {
            return found
        }
        guard case .media(let media) = try await load(address, context, budget) else {
            throw ServerError(.badRequest, "unexpected-playlist-kind", "the address is that of a multivariant playlist")
        }
        guard let found = Self.segment(number, media) else {
            throw ServerError(.notFound, "not-found", "the playlist has no segment \(number)")
        }
        return found
    }

    private static func segment(_ number: Int64, _ media: LoadedMedia) -> NamedSegment? {
        let position = number -| media.reader.playlist.mediaSequence
        guard position >= 0, position < Int64(media.reader.count) else { return nil }
        let found = NamedSegment(media: media, position: Int(clamping: position))
        return found.segment.sequence == number ? found : nil
    }

    /// Returns the segment that a request names, within a budget.
    private func namedSegment(
        _ request: Request,
        _ context: ServerRequestContext,
        _ budget: RequestBudget
    ) async throws -> NamedSegment {
        try await ClientPresence.whileClientIsConnected { [self] in
            try await namedSegment(QueryItems(request.uri.query), context, budget)
        }
    }

    /// Loads a segment as a movie fragment.
    private func movieFragment(_ named: NamedSegment, _ budget: RequestBudget) async throws -> BrowserSegment {
        try await ClientPresence.whileClientIsConnected { [self] in
            let piece = try await named.reader.segment(at: named.position)
            if case .media(let bytes, _) = piece.content { try budget.reserve(bytes.readableBytes *| 3) }
            return try await media.environment.workers.run { [repackager] _ in try BrowserSegment(piece, repackager) }
        }
    }

    @Sendable private func segment(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        // A simulated delay holds no capacity.
        let named = try await namedSegment(request, context, media.environment.capacity.admit())
        return try await faults.response(toRequestOf: named.requestPath, sequence: named.segment.sequence, context) {
            let fragment = try await movieFragment(named, media.environment.capacity.admit())
            let reservation = try media.environment.capacity.reservation(of: fragment.bytes.readableBytes)
            return Response(
                status: .ok,
                headers: [
                    .contentType: fragment.contentType, .cacheControl: "no-store",
                    .firstTimestamp: fragment.firstTimestamp.description,
                ],
                body: ResponseBody(chunks: fragment.bytes, holding: reservation)
            )
        }
    }

    @Sendable private func timestamp(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        // A simulated delay holds no capacity.
        let named = try await namedSegment(request, context, media.environment.capacity.admit())
        return try await faults.response(toRequestOf: named.requestPath, sequence: named.segment.sequence, context) {
            let fragment = try await movieFragment(named, media.environment.capacity.admit())
            return .json(.fields(["timestamp": .seconds(fragment.firstTimestamp)]))
        }
    }

    // MARK: Subtitles

    @Sendable private func cues(_ request: Request, _ context: ServerRequestContext) async throws -> Response {
        let query = QueryItems(request.uri.query)
        guard let start = try Self.time("start", query) else {
            throw ServerError(.badRequest, "missing-start", "start must be the time of the segment, in seconds")
        }
        let offset = try Self.time("offset", query)
        let named = try await namedSegment(request, context, media.environment.capacity.admit())
        return try await faults.response(toRequestOf: named.requestPath, sequence: named.segment.sequence, context) {
            let budget = try media.environment.capacity.admit()
            defer { withExtendedLifetime(budget) {} }
            let report = try await ClientPresence.whileClientIsConnected { [self] in
                let piece = try await named.reader.segment(at: named.position)
                return try await media.environment.workers.run { _ in
                    try BrowserCues(piece, clippedTo: named.segment.address)
                        .report(offset: offset, range: MediaTimeRange(start: start, duration: piece.range.duration))
                }
            }
            return .json(report)
        }
    }

    /// Returns a time in a query, in seconds; `nil` if the query does not have it.
    private static func time(_ name: String, _ query: QueryItems) throws -> MediaTime? {
        guard let text = query[name] else { return nil }
        guard let time = Double(text).flatMap({ MediaTime(approximating: $0) }) else {
            throw ServerError(.badRequest, "invalid-value", "\(name) must be a number of seconds")
        }
        return time
    }
}

extension HTTPField.Name {
    /// The first timestamp of a segment, in seconds.
    fileprivate static let firstTimestamp = parsed("Millstream-First-Timestamp")
}
