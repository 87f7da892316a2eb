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

    /// The addresses that segments and keys get in an edited playlist.
    enum MediaAddressing {
        /// Their addresses at the origin.
        case origin
        /// Addresses of this server, signed.
        case server(SegmentSigner)
    }

    let source: ResourceAddress
    let plan: EditPlan
    let delivery: SegmentDelivery
    /// The variables of the multivariant playlist that led here.
    let variables: [String: String]
    /// The conditions under which it is sent, and the link that it shares with the rest of its stream; `nil` for none.
    let link: LinkRequest?
    /// What a player asks of a live origin: to wait for a segment, to leave old ones out (RFC 8216bis §6.2.5).
    let directives: [QueryItems.Item]
    /// What stands before the addresses of children: nothing, or where this server was reached, for a playlist that is
    /// going to lie elsewhere.
    var base = ""
    /// The addresses that segments and keys get.
    var mediaAddressing = MediaAddressing.origin

    /// More edits than anybody needs; each costs the server a pass over the playlist.
    private static let mostEdits = 16

    init(
        source: ResourceAddress,
        plan: EditPlan,
        delivery: SegmentDelivery,
        variables: [String: String],
        link: LinkRequest? = nil,
        directives: [QueryItems.Item] = []
    ) {
        self.source = source
        self.plan = plan
        self.link = link
        // What goes round the server goes round its link.
        self.delivery = link == nil ? delivery : .proxy
        self.variables = variables
        self.directives = directives
    }

    /// Where the playlist is loaded from: the source, with what the player asks of it.
    var address: ResourceAddress {
        guard !directives.isEmpty else { return source }
        let mark = source.query == nil ? "?" : "&"
        return ResourceAddress(source.text + mark + QueryItems(directives).text)
    }

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - query: The query of an address.
    ///   - allowsFiles: Whether the source may be a file: not of somebody else's request.
    /// - Throws: ``ServerError``, `PlaylistEditError`.
    init(_ query: QueryItems, allowsFiles: Bool = false) throws {
        var source: ResourceAddress?
        var edits: [PlaylistEdit] = []
        var delivery = SegmentDelivery.redirect
        var variables: [String: String] = [:]
        var directives: [QueryItems.Item] = []
        for item in query.items {
            switch item.name {
            case let name where name.hasPrefix("_HLS_"): directives.append(item)
            case "conditions", "link": continue
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
        guard let source, source.isHTTP || allowsFiles else {
            throw ServerError(.badRequest, "missing-url", "url has to be an http or https address")
        }
        guard edits.count <= Self.mostEdits else {
            throw ServerError(.badRequest, "too-many-edits", "at most \(Self.mostEdits) edits are made at once")
        }
        self.init(
            source: source,
            plan: EditPlan(edits),
            delivery: delivery,
            variables: variables,
            link: try LinkRequest(query, source: source),
            directives: directives
        )
    }

    /// The same as an address on this server.
    var path: String {
        var items = [QueryItems.Item(name: "url", value: source.text)]
        items += plan.edits.map { QueryItems.Item(name: $0.spelling.name, value: $0.spelling.value) }
        items += link?.items ?? (delivery == .proxy ? [QueryItems.Item(name: "segments", value: "proxy")] : [])
        items += variables.sorted { $0.key < $1.key }.map {
            QueryItems.Item(name: "define", value: "\($0.key)=\($0.value)")
        }
        return base + "/play.m3u8?" + QueryItems(items).text
    }

    /// The request of a child of the playlist.
    func child(_ source: ResourceAddress, _ plan: EditPlan, variables: [String: String]) -> PlaybackRequest {
        var child = PlaybackRequest(source: source, plan: plan, delivery: delivery, variables: variables, link: link)
        child.base = base
        child.mediaAddressing = mediaAddressing
        return child
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
        let source = try await load(request.address, variables: request.variables)
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
            // Other media are fine where they are, only not here; anything else is the origin's mistake.
            switch error {
            case .notAPlaylist(.dashManifest), .notAPlaylist(.movie), .notAPlaylist(.transportStream):
                throw ServerError(.unsupportedMediaType, error.code, "\(address): \(error)")
            default:
                throw ServerError(.badGateway, error.code, "\(address): \(error)")
            }
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
            else { throw PlaylistEditError.cannotStitch(reason: "\(address) has no variants") }
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
            children[Self.key(entry)] = request.child(address, plan, variables: playlist.variables).path
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
            case .renditionReport:
                request.child(address.address, request.plan, variables: request.variables).path
            default: address.address.isAbsolute ? address.address.text : nil
            }
        }
    }

    /// Returns the address that a segment or a key gets in the playlist; `nil` for the one that it has.
    private func segmentPath(_ address: ResourceAddress, _ request: PlaybackRequest) -> String? {
        guard case .server(let signer) = request.mediaAddressing else { return address.text }
        guard address.isHTTP else { return address.isAbsolute ? address.text : nil }
        let segment = SegmentAddress(address, delivery: request.delivery, link: request.link)
        return request.base + segment.path(signedBy: signer)
    }
}
