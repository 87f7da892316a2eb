import ResourceAddressing

/// The items of a query, in order.
package struct QueryItems: Sendable {
    /// A name and its value, both percent-decoded.
    package struct Item: Sendable, Hashable {
        /// The name; never empty if the item was read from a query.
        package let name: String
        /// The value; empty if there is none.
        package let value: String
    }

    /// The items.
    package let items: [Item]

    /// Creates items from a query; a plus sign is not decoded to a space.
    package init(_ query: String?) {
        // The bytes are split, because a combining character after a separator would hide it.
        items = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(String(Substring(parts[0]))), !name.isEmpty,
                let value = PercentEncoding.decode(parts.count > 1 ? String(Substring(parts[1])) : "")
            else { return nil }
            return Item(name: name, value: value)
        }
    }

    init(_ items: [Item]) {
        self.items = items
    }

    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The items as a percent-encoded query.
    var text: String {
        items.map { item in
            item.value.isEmpty
                ? item.name : "\(item.name)=\(PercentEncoding.encode(item.value, allowing: Self.unencodedBytes))"
        }.joined(separator: "&")
    }

    /// The bytes that are not encoded in values, so that addresses stay readable.
    private static let unencodedBytes = PercentEncoding.unreservedBytes.union(":/@,!*()$".utf8)
}
