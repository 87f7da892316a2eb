import ResourceAddressing

/// A query parameter of a URL, without percent-encoding.
package struct QueryParameter: Sendable, Hashable {
    /// The name; it is not empty in a pathway clone.
    package let name: String
    /// The value.
    package let value: String
}

extension ResourceAddress {
    /// Returns the address with the given query parameters; all other parts are unchanged byte for byte.
    ///
    /// A parameter that the query already contains is replaced in place, and others are appended.
    func setting(_ parameters: [QueryParameter]) -> ResourceAddress {
        guard !parameters.isEmpty else { return self }
        let bytes = Array(text.utf8)
        let hash = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let mark = bytes[..<hash].firstIndex(of: UInt8(ascii: "?"))
        var items: [ArraySlice<UInt8>] = []
        if let mark, mark + 1 < hash {
            items = bytes[(mark + 1)..<hash].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        }
        for parameter in parameters {
            let name = PercentEncoding.encode(parameter.name)
            let written = ArraySlice("\(name)=\(PercentEncoding.encode(parameter.value))".utf8)
            let position = items.firstIndex { item in
                let name = String(decoding: item.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
                return PercentEncoding.decode(name) == parameter.name
            }
            if let position { items[position] = written } else { items.append(written) }
        }
        let query = Array(items.joined(separator: [UInt8(ascii: "&")]))
        return ResourceAddress(
            String(decoding: bytes[..<(mark ?? hash)] + [UInt8(ascii: "?")] + query + bytes[hash...], as: UTF8.self)
        )
    }

    /// Returns a Boolean value that indicates whether a text is a host name or an IP address, with or without a port.
    static func isHost(_ text: String) -> Bool {
        let allowed = PercentEncoding.unreservedBytes.union("[]:".utf8)
        return text.utf8.allSatisfy(allowed.contains) && ResourceAddress("https://\(text)/").isHTTP
    }

    /// Returns the address with another host, and with another port if `host` contains one.
    ///
    /// User information is removed, because it is for the former host. An address that is not an HTTP URL is returned
    /// unchanged.
    func replacingHost(with host: String) -> ResourceAddress {
        guard isHTTP, let scheme, let authority else { return self }
        func port(of authority: String) -> Substring {
            let start = authority.utf8.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
            return authority.utf8[start...].firstIndex(of: UInt8(ascii: ":")).map { authority[$0...] } ?? ""
        }
        let formerHost = authority.split(separator: "@", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        let kept = port(of: host).isEmpty ? port(of: formerHost) : ""
        let rest = text.utf8.dropFirst(scheme.utf8.count + 3 + authority.utf8.count)
        return ResourceAddress("\(scheme)://\(host)\(kept)\(String(decoding: rest, as: UTF8.self))")
    }
}
