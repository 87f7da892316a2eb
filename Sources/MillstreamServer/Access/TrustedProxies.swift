import MediaTiming
public import MediaTransport

/// A reverse proxy, or a network of proxies, whose header fields about its clients are trusted.
public struct TrustedProxy: Sendable, Hashable {
    private let octets: [UInt8]
    private let prefixLength: Int

    /// Creates a proxy from an address or a network, such as `192.0.2.1`, `10.0.0.0/8` or `2001:db8::/32`; `nil` if the
    /// text is neither.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let address = HostAddress(numeric: String(parts[0])) else { return nil }
        octets = address.octets
        let bits = octets.count *| 8
        guard parts.count == 2 else {
            prefixLength = bits
            return
        }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]),
            (0...bits).contains(length)
        else { return nil }
        prefixLength = length
    }

    /// Returns whether an address belongs to the proxy.
    public func contains(_ address: HostAddress) -> Bool {
        guard address.octets.count == octets.count else { return false }
        let (bytes, bits) = (prefixLength / 8, prefixLength % 8)
        guard address.octets.prefix(bytes).elementsEqual(octets.prefix(bytes)) else { return false }
        guard bits > 0 else { return true }
        let mask = ~(UInt8.max >> UInt8(clamping: bits))
        return address.octets[bytes] & mask == octets[bytes] & mask
    }
}

extension [TrustedProxy] {
    /// Returns whether an address belongs to one of the proxies.
    package func contains(_ address: HostAddress) -> Bool { contains { $0.contains(address) } }

    /// Returns the client for which a trusted proxy forwarded a request: the last address that is not itself a trusted
    /// proxy.
    ///
    /// Addresses further to the left are sent by the client and can be forged.
    ///
    /// - Parameters:
    ///   - forwardedFor: The value of `X-Forwarded-For`, all fields joined with commas.
    ///   - forwarded: The value of `Forwarded` (RFC 7239), all fields joined with commas.
    /// - Returns: The client; `nil` if the fields name none, or two different ones, of which one may be forged by the
    ///   client.
    package func client(forwardedFor: String?, forwarded: String?) -> HostAddress? {
        let candidates = [
            forwardedFor.map { Self.nodes(inForwardedFor: $0) }, forwarded.map { Self.nodes(inForwarded: $0) },
        ].compactMap { $0 }.map { nodes in lastUntrusted(nodes) }
        guard let first = candidates.first, candidates.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    private func lastUntrusted(_ nodes: [HostAddress?]) -> HostAddress? {
        for node in nodes.reversed() {
            // Nodes to the left of one that cannot be parsed are not trustworthy.
            guard let node else { return nil }
            if !contains(node) { return node }
        }
        return nil
    }

    /// Returns the elements of a list.
    ///
    /// The bytes are split: the client sends the elements before that of a proxy, and a character at their end must not
    /// join the comma after it.
    private static func elements(of value: String) -> [Substring] {
        value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { Substring($0) }
    }

    private static func nodes(inForwardedFor value: String) -> [HostAddress?] {
        elements(of: value).map { address(in: $0) }
    }

    private static func nodes(inForwarded value: String) -> [HostAddress?] {
        elements(of: value).map { element in
            let nodes = element.split(separator: ";").compactMap { pair -> Substring? in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, trimmed(parts[0]).lowercased() == "for" else { return nil }
                return parts[1]
            }
            return nodes.count == 1 ? address(in: nodes[0]) : nil
        }
    }

    /// Returns the address in a node, which can be quoted, in brackets, or followed by a port.
    private static func address(in node: Substring) -> HostAddress? {
        var text = trimmed(node)
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
        if text.hasPrefix("["), let bracket = text.firstIndex(of: "]") {
            text = text[text.index(after: text.startIndex)..<bracket]
        } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1, let colon = text.firstIndex(of: ":") {
            text = text[..<colon]
        }
        return HostAddress(numeric: String(text))?.unmapped
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
