import ResourceAddressing

/// What of an address says over which link its answer is sent: `conditions=3G`, and for the children of a stream `link=…`
/// beside it.
struct LinkRequest: Hashable {
    /// The conditions, as the address names them.
    let conditions: String
    /// The link of the stream.
    let id: String

    /// Reads it; `nil` where no conditions are named.
    ///
    /// - Throws: ``ServerError`` for conditions that nobody knows.
    init?(_ query: QueryItems, source: ResourceAddress) throws {
        guard let conditions = query["conditions"] else { return nil }
        _ = try LinkDesk.profile(conditions)
        self.conditions = conditions
        let stream = LinkDesk.Stream(source: source, conditions: conditions)
        let given = query["link"].flatMap { Self.isIdentifier($0) ? $0 : nil }
        id = given ?? LinkDesk.identifier(stream)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        return (1...16).contains(text.utf8.count) && isPlain
    }

    /// The same, for the addresses of children.
    var items: [QueryItems.Item] {
        [QueryItems.Item(name: "conditions", value: conditions), QueryItems.Item(name: "link", value: id)]
    }
}
