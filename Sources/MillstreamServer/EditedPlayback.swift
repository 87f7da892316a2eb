import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import PlaylistEditing
import ResourceAddressing

/// What an address such as `/play.m3u8?url=…&bandwidth=…` asks for.
struct PlaybackRequest {
    /// How a player gets segments.
    enum SegmentDelivery: String {
        /// By a redirect to their origin.
        case redirect
        /// Through this server.
        case proxy
    }

    let source: ResourceAddress
    let plan: EditPlan
    let delivery: SegmentDelivery
    /// The variables of the multivariant playlist that led here.
    let variables: [String: String]

    init(source: ResourceAddress, plan: EditPlan, delivery: SegmentDelivery, variables: [String: String]) {
        self.source = source
        self.plan = plan
        self.delivery = delivery
        self.variables = variables
    }

    init(_ query: QueryItems) throws {
        var source: ResourceAddress?
        var edits: [PlaylistEdit] = []
        var delivery = SegmentDelivery.redirect
        var variables: [String: String] = [:]
        for item in query.items {
            switch item.name {
            case "url": source = ResourceAddress(item.value)
            case "segments":
                guard let value = SegmentDelivery(rawValue: item.value) else {
                    throw ServerError(.badRequest, "invalid-value", "segments is redirect or proxy")
                }
                delivery = value
            case "define":
                let parts = item.value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            case let name where PlaylistEdit.names.contains(name):
                edits.append(try PlaylistEdit(name: name, value: item.value))
            default:
                throw ServerError(
                    .badRequest,
                    "unknown-edit",
                    "there is no edit named \(item.name)",
                    hint: "an address with & in it has to be percent-encoded: url=https%3A%2F%2F…"
                )
            }
        }
        guard let source, source.isHTTP else {
            throw ServerError(.badRequest, "missing-url", "url has to be an http or https address")
        }
        self.init(source: source, plan: EditPlan(edits), delivery: delivery, variables: variables)
    }

    /// The same as an address on this server.
    var path: String {
        var items = [QueryItems.Item(name: "url", value: source.text)]
        items += plan.edits.map { QueryItems.Item(name: $0.spelling.name, value: $0.spelling.value) }
        if delivery == .proxy { items.append(QueryItems.Item(name: "segments", value: "proxy")) }
        items += variables.sorted { $0.key < $1.key }.map {
            QueryItems.Item(name: "define", value: "\($0.key)=\($0.value)")
        }
        return "/play.m3u8?" + QueryItems(items).text
    }
}

/// Loads a source, edits it and points its addresses back at this server, so that its children are edited too.
struct EditedPlayback {
    let loading: ResourceLoading

    /// Larger playlists are refused: a request must not cost the server more than a moment.
    private static let byteLimit = ByteCount(64 << 20)
    /// Nine days of segments of four seconds.
    private static let entryLimit = 200_000

    /// The edited playlist.
    func playlist(for request: PlaybackRequest) async throws -> Playlist {
        let source = try await load(request.source, variables: request.variables)
        switch source {
        case .multivariant(let playlist):
            var sources: [String: Playlist] = [:]
            for name in request.plan.sources { sources[name] = try await load(ResourceAddress(name)) }
            let edited = try request.plan.applied(to: playlist, sources: sources)
            return try await pointingHere(edited, request, sources)
        case .media(let playlist):
            var sources: [String: MediaPlaylist] = [:]
            for name in request.plan.sources where GapPlaylist.playlist(at: name) == nil {
                sources[name] = try await mediaPlaylist(at: name)
            }
            let edited = try request.plan.applied(to: playlist, sources: sources)
            return pointingHere(edited, request)
        }
    }

    /// What a source is, unedited.
    func load(_ address: ResourceAddress, variables: [String: String] = [:]) async throws -> Playlist {
        let loaded = try await loading.load(TransportRequest(address, kind: .playlist), limit: Self.byteLimit)
        do {
            return try Playlist.parse(
                loaded.bytes,
                context: PlaylistContext(address: loaded.address, importableVariables: variables),
                limits: PlaylistLimits(entryCount: Self.entryLimit)
            )
        } catch {
            let isManifest = loaded.bytes.prefix(4096).firstRange(of: Array("<MPD".utf8)) != nil
            throw isManifest
                ? ServerError(
                    .unsupportedMediaType,
                    "dash",
                    "\(address) is a DASH manifest, which cannot be served yet"
                )
                : ServerError(.badGateway, error.code, "\(address) is no HLS playlist (\(error))")
        }
    }

    /// The media playlist at an address; of a presentation, the one of its leanest variant.
    private func mediaPlaylist(at name: String) async throws -> MediaPlaylist {
        let address = ResourceAddress(name)
        switch try await load(address) {
        case .media(let playlist): return playlist
        case .multivariant(let playlist):
            guard let variant = StitchMatching(playlist).leanestVariant,
                case .media(let media) = try await load(variant, variables: playlist.variables)
            else { throw PlaylistEditError.cannotStitch(reason: "\(name) has no variants") }
            return media
        }
    }

    private func pointingHere(
        _ playlist: MultivariantPlaylist,
        _ request: PlaybackRequest,
        _ sources: [String: Playlist]
    ) async throws -> Playlist {
        var gaps: [String: String] = [:]
        if playlist.renditions.contains(where: { $0.type == .subtitles }) {
            for name in sources.keys {
                gaps[name] = GapPlaylist.address(of: try await mediaPlaylist(at: name).duration)
            }
        }
        var children: [String: String] = [:]
        func child(_ entry: PresentationEntry) throws {
            guard let address = entry.address else { return }
            let plan = try request.plan.plan(for: entry, sources: sources, gaps: gaps)
            let child = PlaybackRequest(
                source: address,
                plan: plan,
                delivery: request.delivery,
                variables: playlist.variables
            )
            children[Self.key(entry)] = child.path
        }
        for variant in playlist.variants + playlist.iFrameVariants { try child(.variant(variant)) }
        for rendition in playlist.renditions { try child(.rendition(rendition)) }
        return Playlist.multivariant(playlist).rewritingAddresses { address in
            switch address.role {
            case .variant: children["variant " + address.uri]
            case .iFrameVariant: children["iframes " + address.uri]
            case .rendition(let type): children["rendition \(type?.rawValue ?? "") " + address.uri]
            case .key: segmentPath(address.address, request)
            default: address.address.text
            }
        }
    }

    private static func key(_ entry: PresentationEntry) -> String {
        switch entry {
        case .variant(let variant): (variant.isIFrames ? "iframes " : "variant ") + variant.uri
        case .rendition(let rendition): "rendition \(rendition.type?.rawValue ?? "") \(rendition.uri ?? "")"
        }
    }

    private func pointingHere(_ playlist: MediaPlaylist, _ request: PlaybackRequest) -> Playlist {
        Playlist.media(playlist).rewritingAddresses { address in
            switch address.role {
            case .segment, .part, .initialization, .key: segmentPath(address.address, request)
            case .renditionReport: nil
            default: address.address.isAbsolute ? address.address.text : nil
            }
        }
    }

    /// Where a player asks this server for a segment: its name stays visible, since players look at its ending.
    private func segmentPath(_ address: ResourceAddress, _ request: PlaybackRequest) -> String? {
        guard address.isHTTP else { return address.isAbsolute ? address.text : nil }
        let name = address.lastPathComponent.isEmpty ? "segment" : address.lastPathComponent
        let kept = PercentEncoding.encode(PercentEncoding.decode(name) ?? "segment")
        var items = [QueryItems.Item(name: "url", value: address.text)]
        if request.delivery == .proxy { items.append(QueryItems.Item(name: "segments", value: "proxy")) }
        return "/segment/\(kept)?" + QueryItems(items).text
    }
}
