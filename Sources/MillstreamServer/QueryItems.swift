import ResourceAddressing

/// The items of a query, in order.
struct QueryItems {
    /// A name and its value, both percent-decoded.
    struct Item: Hashable {
        let name: String
        let value: String
    }

    let items: [Item]

    /// Creates items from a query; a plus sign is not decoded to a space.
    init(_ query: String?) {
        items = (query ?? "").split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(String(parts[0])), !name.isEmpty,
                let value = PercentEncoding.decode(parts.count > 1 ? String(parts[1]) : "")
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
