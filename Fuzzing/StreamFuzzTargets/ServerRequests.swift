import AssetStorage
import FuzzTargets
import MediaTransport
import MillstreamDownloads
import MillstreamServer
import PresentationLoading
import ResourceAddressing

// MARK: Request heads

/// Reads a request: the first line is its target, the others are its header fields.
@Sendable func readRequestHead(_ bytes: [UInt8]) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let fields = lines.dropFirst().prefix(32).compactMap { HeaderField(line: String($0)) }
    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }
    func value(_ name: String) -> String? {
        let found = values(name)
        return found.isEmpty ? nil : found.joined(separator: ", ")
    }
    checkPath(String(lines[0].prefix { $0 != "?" }))
    var parts = InitiatorFields()
    parts.host = value("host") ?? ""
    parts.origin = value("origin")
    parts.fetchSite = value("sec-fetch-site")
    parts.referrer = value("referer")
    parts.userAgent = value("user-agent")
    checkInitiator(parts, isForwarded: false)
    checkInitiator(parts, isForwarded: true)
    checkClient(forwardedFor: value("x-forwarded-for"), forwarded: value("forwarded"))
    checkEncoding(values("accept-encoding"))
    checkConnection(bytes)
    let head = ["GET \(lines[0]) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
    checkConnection(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))
}

/// Checks that a path that the server accepts has the same components for all that decode it.
private func checkPath(_ path: String) {
    guard path.utf8.first == UInt8(ascii: "/"), path != "/", RequestParsing.isUnambiguous(path: path) else { return }
    guard let decoded = PercentEncoding.decode(path) else { return check(false, "a path is not UTF-8") }
    check(
        !decoded.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") },
        "a path has characters that clients interpret differently"
    )
    let slash = UInt8(ascii: "/")
    let names = decoded.utf8.split(separator: slash, omittingEmptySubsequences: false).dropFirst()
    check(names.count == path.utf8.filter { $0 == slash }.count, "an encoded slash separates components")
    check(
        names.allSatisfy { name in !["", ".", ".."].contains { name.elementsEqual($0.utf8) } },
        "a path leaves its folder"
    )
}

/// Checks that no request of another site passes for one of this server or of a player.
private func checkInitiator(_ fields: InitiatorFields, isForwarded: Bool) {
    let names = ServerNames(["media.example"])
    func initiator(_ change: (inout InitiatorFields) -> Void) -> RequestInitiator {
        var changed = fields
        change(&changed)
        return RequestInitiator(changed, names: names, isForwarded: isForwarded)
    }
    let isOwnHost = fields.host.isEmpty || names.contains(authority: fields.host)
    check((initiator { _ in } == .foreignHost) == !isOwnHost, "a host is not that of the server")
    check(initiator { $0.host = "evil.example" } == .foreignHost, "a name of another site passes")
    check(initiator { $0.origin = "https://evil.example" }.isForeign, "a page of another origin passes")
    check(initiator { $0.fetchSite = "cross-site" }.isForeign, "a page of another site passes")
    let linked = initiator { fields in
        fields.origin = nil
        fields.fetchSite = nil
        fields.referrer = "https://evil.example/page"
    }
    check(linked.isForeign, "a page that links to the server passes")
}

/// Checks that the client of a request is the last one that a trusted proxy names, whatever the client sends itself.
private func checkClient(forwardedFor: String?, forwarded: String?) {
    let proxies = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"].compactMap { TrustedProxy($0) }
    if let found = proxies.client(forwardedFor: forwardedFor, forwarded: forwarded) {
        check(!proxies.contains(found), "a proxy passes for a client")
    }
    guard let client = HostAddress(numeric: "203.0.113.7") else { return check(false, "an address cannot be read") }
    let forged = forwardedFor.map { "\($0), " } ?? ""
    check(
        proxies.client(forwardedFor: "\(forged)203.0.113.7, 10.1.2.3", forwarded: nil) == client,
        "a client chooses its address in X-Forwarded-For"
    )
    let forgedElements = forwarded.map { "\($0), " } ?? ""
    check(
        proxies.client(forwardedFor: nil, forwarded: "\(forgedElements)for=203.0.113.7, for=10.1.2.3") == client,
        "a client chooses its address in Forwarded"
    )
}

private func checkEncoding(_ fields: [String]) {
    check(GzipEncoding.isAccepted(by: ["gzip"] + fields), "an encoding that is named is not accepted")
    check(!GzipEncoding.isAccepted(by: ["gzip;q=0"] + fields), "an encoding that is refused is accepted")
    if GzipEncoding.isAccepted(by: fields) {
        let text = fields.joined(separator: ",").lowercased().filter { $0 != " " && $0 != "\t" }
        check(text.contains("gzip") || text.contains("*"), "an encoding that is not named is accepted")
    }
}

// MARK: Signed addresses

private let secret = ServerSecret(bytes: [UInt8](repeating: 1, count: 32))
private let otherSecret = ServerSecret(bytes: [UInt8](repeating: 2, count: 32))
private let expiry = AddressExpiry(UnixSeconds(1_700_000_000))

/// Reads two lines: the URL of a segment, and a query with which a client changes its signed address.
@Sendable func readSegmentAddress(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let target = ResourceAddress(lines[0])
    let query = lines.count > 1 ? lines[1] : ""
    let link = LinkParameters(QueryItems(query), source: target)
    for delivery in [PlaybackRequest.SegmentDelivery.redirect, .proxy] {
        for end in [nil, expiry] {
            checkAddress(SegmentAddress(target, delivery: delivery, link: link, expiry: end), changedBy: query)
        }
    }
    checkPlaybackAddress(query)
    let derived = DerivedAddress(manifest: target, fileName: query)
    check(derived.manifest.fragment == nil, "the address of a manifest has a fragment")
    check(DerivedAddress(derived.address) == derived, "the address of a derived playlist is read as another")
}

/// Checks that a server reads its own address, and refuses each address that a client changed.
private func checkAddress(_ address: SegmentAddress, changedBy change: String) {
    let signer = SegmentSigner(secret)
    let path = address.path(signedBy: signer)
    check(path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an address has characters that must be encoded")
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    guard parts.count == 2, parts[0].hasPrefix("/segment/") else {
        return check(false, "an address has another form")
    }
    check(RequestParsing.isUnambiguous(path: parts[0]), "an address is ambiguous")
    // Other URLs are not written into playlists.
    guard address.target.isHTTP else { return }
    let name = String(parts[0].dropFirst("/segment/".count))
    let read = try? SegmentAddress(name: name, query: QueryItems(parts[1]), signer: signer)
    check(read == address, "an address is read as another")
    let foreign = try? SegmentAddress(name: name, query: QueryItems(parts[1]), signer: SegmentSigner(otherSecret))
    check(foreign == nil, "an address with another secret is accepted")
    for query in ["\(parts[1])&\(change)", "\(change)&\(parts[1])", change] {
        for name in [name, "other.ts"] {
            guard let changed = try? SegmentAddress(name: name, query: QueryItems(query), signer: signer) else {
                continue
            }
            check(changed == address, "a signed address is changed")
        }
    }
}

/// Checks that a signed playback address is valid until it expires, and with no other item.
private func checkPlaybackAddress(_ query: String) {
    let address = ResourceAddress("/play.m3u8?\(query)")
    guard let signed = try? secret.signedAddress(address, expires: expiry.time).query else { return }
    let (items, signer) = (QueryItems(signed), PlaybackSigner(secret))
    let before = UnixSeconds(expiry.time.rawValue - 1)
    let valid = try? signer.verify(items, at: before)
    check(valid == expiry, "a signed address is refused")
    let expired = try? signer.verify(items, at: expiry.time)
    check(expired == nil, "an expired address is accepted")
    let foreign = try? PlaybackSigner(otherSecret).verify(items, at: before)
    check(foreign == nil, "an address with another secret is accepted")
    for change in ["segments=direct", "expires=1800000000", "url=https%3A%2F%2Fevil.example%2F"] {
        for query in ["\(signed)&\(change)", "\(change)&\(signed)"] {
            let changed = try? signer.verify(QueryItems(query), at: before)
            check(changed == nil, "a signed address is changed")
        }
    }
}

// MARK: Bodies

/// Reads the bodies of requests to the console API, and of error responses.
@Sendable func readAPIBody(_ bytes: [UInt8]) {
    if let order = try? DownloadOrder(parsing: bytes) {
        check(order.source.isHTTP, "a download is not from an HTTP address")
        check(
            DownloadSelection(order.selection.description) == order.selection,
            "a selection is stored as another"
        )
    }
    if let order = try? ConditionsOrder(parsing: bytes) {
        let again = try? ConditionsOrder(parsing: bytes)
        check(again == order, "a body is read as two orders")
    }
    if let order = try? FaultOrder(parsing: bytes) {
        check(order.faults.count <= FaultOrder.maximumCount, "there are more faults than allowed")
        for fault in order.faults { checkFault(fault) }
    }
    if let changes = PolicyChanges(parsing: bytes), let policy = changes.applied(to: StoragePolicy()) {
        check(changes.applied(to: policy) == policy, "the same changes change a policy again")
    }
    if let message = ErrorExplanation.message(in: bytes) {
        // The shortest form of a character is that of UTF-16.
        check(!message.isEmpty && message.utf8.count <= 2 * bytes.count, "a message is not from the body")
    }
}
