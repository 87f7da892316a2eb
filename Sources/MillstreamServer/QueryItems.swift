import ResourceAddressing

/// The query of an address, item by item in its order.
struct QueryItems {
    /// A name and its value, decoded.
    struct Item: Hashable {
        let name: String
        let value: String
    }

    let items: [Item]

    /// Reads a query; a plus sign is a plus sign.
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

    /// The items as a query.
    var text: String {
        items.map { item in
            item.value.isEmpty
                ? item.name : "\(item.name)=\(PercentEncoding.encode(item.value, keeping: Self.keptBytes))"
        }.joined(separator: "&")
    }

    /// Bytes that need no encoding in a value: those that addresses are full of stay readable.
    private static let keptBytes = PercentEncoding.unreservedBytes.union(":/@,!*()$".utf8)
}
