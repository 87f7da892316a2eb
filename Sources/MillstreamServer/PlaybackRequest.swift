import HTTPTypes
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The parameters of a playback URL such as `/play.m3u8?url=…&bandwidth=…`.
package struct PlaybackRequest: Sendable {
    /// The ways in which a player receives segments.
    package enum SegmentDelivery: String, Sendable {
        /// The server redirects to the origin.
        case redirect
        /// The server loads the segment and forwards it.
        case proxy
        /// The playlist has the URL at the origin.
        case direct
    }

    /// The redundant variants that remain in a multivariant playlist.
    enum Redundancy: String {
        /// All redundant variants.
        case all
        /// The redundant variants whose media playlists are available and not stale.
        case available
    }

    /// The kinds of addresses of segments and keys in an edited playlist.
    enum MediaAddressing {
        /// The addresses at the origin.
        case origin
        /// The addresses at the origin, except for parts of files.
        ///
        /// The origin does not have these parts; their addresses are relative to the base of the playlists.
        case originAndParts
        /// Signed addresses of this server.
        case server(SegmentSigner)
    }

    let source: ResourceAddress
    let plan: EditPlan
    let delivery: SegmentDelivery
    /// The redundant variants that remain, which has no effect on media playlists.
    var redundancy = Redundancy.all
    /// The variables of the multivariant playlist that refers to this one, unless they are too long for an address.
    let variables: [String: String]
    /// The URL of the multivariant playlist that refers to this one, if its variables are too long for a URL.
    ///
    /// The variables are loaded from there if this playlist imports any.
    var parent: ResourceAddress?
    /// The name of the presentation with its edits, whose tracks have the same numbers of breaks; `nil` if there are no
    /// such numbers.
    var presentation: String?
    /// The network conditions, and the simulated link that all resources of the stream share; `nil` if no conditions
    /// are simulated.
    let link: LinkParameters?
    /// The delivery directives of the player, such as a blocking reload or a delta update (RFC 8216bis §6.2.5), and the parameters of
    /// requests for interstitials.
    let directives: [QueryItems.Item]
    /// The prefix of the URLs of child playlists: the scheme and host of this server if the playlist is used outside of
    /// it; otherwise empty.
    var base = ""
    /// The kind of addresses of segments and keys.
    var mediaAddressing = MediaAddressing.origin
    /// The permission that child playlists and segments inherit; `nil` if the server admits unsigned addresses.
    var permission: PlaybackPermission?

    /// The maximum number of bytes of variables in the address of a child playlist.
    ///
    /// The limit avoids long URLs: the variables are repeated in the URL of every child playlist, but few of them need
    /// the variables.
    private static let maximumVariableBytes = 512
    private static let maximumNameLength = 16

    init(
        source: ResourceAddress,
        plan: EditPlan,
        delivery: SegmentDelivery,
        variables: [String: String],
        link: LinkParameters? = nil,
        directives: [QueryItems.Item] = []
    ) {
        self.source = source
        self.plan = plan
        self.link = link
        // A redirected segment would bypass the link, so segments are proxied.
        self.delivery = link == nil ? delivery : .proxy
        self.variables = variables
        self.directives = directives
    }

    /// The parameters of requests for interstitials, which concern the server of the asset (RFC 8216bis Appendix D).
    private static let interstitialParameters: Set = ["_HLS_primary_id", "_HLS_start_offset", "_HLS_interstitial_id"]
    private static let directiveNames = interstitialParameters.union(["_HLS_msn", "_HLS_part", "_HLS_skip"])

    /// Returns the target of a request without the parameters that are ignored, so that all targets with the same meaning are equal.
    static func meaningfulTarget(_ target: String) -> String {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let start = target.utf8.index(after: mark)
        let pairs = target.utf8[start...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let meaningful = pairs.filter { pair in
            let name = PercentEncoding.decode(String(Substring(pair.prefix { $0 != UInt8(ascii: "=") }))) ?? ""
            return !name.hasPrefix("_HLS_") || directiveNames.contains(name)
        }
        guard meaningful.count < pairs.count else { return target }
        return String(target[..<start]) + meaningful.map { String(Substring($0)) }.joined(separator: "&")
    }

    /// The elements that the server may omit from a playlist if a player requests it (RFC 8216bis §6.2.5.1).
    enum Skip: String {
        /// Older segments.
        case segments = "YES"
        /// Older segments and date ranges.
        case segmentsAndDateRanges = "v2"
    }

    /// The elements that this server may leave out of the edited playlist; `nil` for none.
    ///
    /// Without edits, the origin answers the request for a delta update.
    var skip: Skip? {
        guard !plan.edits.isEmpty else { return nil }
        return QueryItems(directives)["_HLS_skip"].flatMap { Skip(rawValue: $0) }
    }

    /// The address from which the playlist is loaded: the source with the delivery directives that are for the origin.
    ///
    /// No directives are added for a simulated channel, because its source is complete. None but the parameters for
    /// interstitials are added for edited breaks, which remove the tags of low-latency playlists. Other edits require
    /// the full playlist, from which this server makes the delta update.
    var address: ResourceAddress {
        guard plan.channel == nil else { return source }
        let forwarded = directives.filter { item in
            if Self.interstitialParameters.contains(item.name) { return true }
            return !plan.continuesTimelines && (plan.edits.isEmpty || item.name != "_HLS_skip")
        }
        guard !forwarded.isEmpty else { return source }
        let mark = source.query == nil ? "?" : "&"
        let end = source.text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? source.text.endIndex
        return ResourceAddress(source.text[..<end] + mark + QueryItems(forwarded).text + source.text[end...])
    }

    /// Returns the delivery of partial segments; `nil` if the playlist has none.
    ///
    /// - Throws: ``ServerError`` with 400 if the delivery directives of the player are invalid (RFC 8216bis §6.2.5.2).
    func partDelivery() throws -> PartDelivery? {
        guard case .server = mediaAddressing, plan.channel?.partTarget != nil else { return nil }
        func number(_ name: String) throws -> Int64? {
            guard let value = QueryItems(directives)[name] else { return nil }
            guard let number = Int64(value), number >= 0 else {
                throw ServerError(.badRequest, "invalid-directive", "\(name) must be a number")
            }
            return number
        }
        guard let sequence = try number("_HLS_msn") else {
            guard try number("_HLS_part") == nil else {
                throw ServerError(.badRequest, "invalid-directive", "_HLS_part requires _HLS_msn")
            }
            return PartDelivery()
        }
        let part = try number("_HLS_part").map { Int(clamping: $0) }
        return PartDelivery(awaited: PartDelivery.Position(sequence: sequence, part: part))
    }

    /// Creates a request from a query.
    ///
    /// - Parameters:
    ///   - query: The query of an address.
    ///   - allowsFiles: A Boolean value that indicates whether the source may be a file; must be `false` for requests
    ///     of clients.
    ///   - limits: The maximum number of edits and of the playlists that they insert.
    /// - Throws: ``ServerError``, `PlaylistEditError`.
    init(_ query: QueryItems, allowsFiles: Bool = false, limits: EditLimits = EditLimits()) throws {
        var source: ResourceAddress?
        var edits: [PlaylistEdit] = []
        var delivery = SegmentDelivery.redirect
        var redundancy = Redundancy.all
        var variables: [String: String] = [:]
        var directives: [QueryItems.Item] = []
        var parent: ResourceAddress?
        var presentation: String?
        for item in query.items {
            switch item.name {
            case let name where Self.directiveNames.contains(name): directives.append(item)
            // Other names are reserved (RFC 8216bis §6.2.5), and are ignored.
            case let name where name.hasPrefix("_HLS_"): continue
            case "conditions", "link", AddressExpiry.name, PlaybackSigner.name: continue
            case "url": source = ResourceAddress(item.value)
            case "segments":
                guard let value = SegmentDelivery(rawValue: item.value) else {
                    throw ServerError(.badRequest, "invalid-value", "segments must be redirect, proxy or direct")
                }
                delivery = value
            case "redundant":
                guard let value = Redundancy(rawValue: item.value) else {
                    throw ServerError(.badRequest, "invalid-value", "redundant must be all or available")
                }
                redundancy = value
            case "parent": parent = ResourceAddress(item.value)
            case "presentation": presentation = item.value.utf8.count <= Self.maximumNameLength ? item.value : nil
            case "define":
                // A value can begin with a combining character.
                let separator = UInt8(ascii: "=")
                let parts = item.value.utf8.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { variables[String(Substring(parts[0]))] = String(Substring(parts[1])) }
            case let name where PlaylistEdit.isKnown(name):
                if let edit = try PlaylistEdit.edit(named: name, item.value) { edits.append(edit) }
            default:
                throw ServerError(
                    .badRequest,
                    "unknown-edit",
                    "there is no edit named \(item.name)",
                    hint: "an address that contains & must be percent-encoded: url=https%3A%2F%2F…"
                )
            }
        }
        guard let source, !source.text.isEmpty || allowsFiles else {
            throw ServerError(.badRequest, "missing-url", "url must be an http or https address")
        }
        guard source.isHTTP || allowsFiles else {
            throw ServerError(
                .badRequest,
                "invalid-value",
                "only http and https URLs with a host can be played",
                hint: "the parameter url is the URL of the source"
            )
        }
        guard parent?.isHTTP ?? true || allowsFiles else {
            throw ServerError(.badRequest, "invalid-value", "parent must be an http or https address")
        }
        let plan = EditPlan(edits)
        try limits.verify(plan)
        self.init(
            source: source,
            plan: plan,
            delivery: delivery,
            variables: variables,
            link: LinkParameters(query, source: source),
            directives: directives
        )
        self.redundancy = redundancy
        self.parent = parent
        self.presentation = presentation
    }

    private var deliveryItems: [QueryItems.Item] {
        delivery == .redirect ? [] : [QueryItems.Item(name: "segments", value: delivery.rawValue)]
    }

    /// The request as an address of this server.
    var path: String { base + "/play.m3u8?" + queryText }

    /// The address of the DASH manifest of the same simulated channel; `nil` if no edit simulates a channel.
    var manifestPath: String? { plan.channel == nil ? nil : base + Self.manifestRoute + "?" + queryText }

    /// The path of the route of manifests.
    static let manifestRoute = "/play.mpd"

    /// The parameters as a query, with their signature if addresses are signed.
    private var queryText: String {
        var items = [QueryItems.Item(name: "url", value: source.text)]
        items += plan.edits.map { QueryItems.Item(name: $0.nameAndValue.name, value: $0.nameAndValue.value) }
        items += link?.items ?? deliveryItems
        if redundancy != .all { items.append(QueryItems.Item(name: "redundant", value: redundancy.rawValue)) }
        items += variables.sorted { $0.key < $1.key }.map {
            QueryItems.Item(name: "define", value: "\($0.key)=\($0.value)")
        }
        if let parent { items.append(QueryItems.Item(name: "parent", value: parent.text)) }
        if let presentation { items.append(QueryItems.Item(name: "presentation", value: presentation)) }
        if let permission {
            if let expiry = permission.expiry { items.append(expiry.item) }
            items.append(permission.signer.signatureItem(of: items))
        }
        return QueryItems(items).text
    }

    /// Returns the request for another playlist of the same presentation, with the inherited settings of this request.
    func sibling(_ source: ResourceAddress, _ plan: EditPlan) -> PlaybackRequest {
        var sibling = PlaybackRequest(source: source, plan: plan, delivery: delivery, variables: variables, link: link)
        sibling.base = base
        sibling.mediaAddressing = mediaAddressing
        sibling.permission = permission
        sibling.parent = parent
        sibling.presentation = presentation
        return sibling
    }

    /// The name of the presentation with its edits.
    private var presentationName: String {
        let edits = plan.edits.map { "\($0.definition.name)=\($0.value)" }
        return String(StableHash(([source.text] + edits).joined(separator: "\n")).value, radix: 36)
    }

    /// Returns the request from which those of all child playlists are derived with ``sibling(_:_:)``.
    func inheritance(_ variables: [String: String]) -> PlaybackRequest {
        let size = variables.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let isShort = size <= Self.maximumVariableBytes
        var first = PlaybackRequest(
            source: source,
            plan: plan,
            delivery: delivery,
            variables: isShort ? variables : [:],
            link: link
        )
        first.base = base
        first.mediaAddressing = mediaAddressing
        first.permission = permission
        first.parent = isShort ? nil : source
        if plan.continuesTimelines { first.presentation = presentationName }
        return first
    }
}
