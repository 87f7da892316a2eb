package import ResourceAddressing

/// The parameters of an address that select the link of its response: `conditions=3G` and, for the children of a
/// stream, `link=…`.
package struct LinkParameters: Sendable, Hashable {
    /// The name of the conditions in the address.
    let conditions: String
    /// The identifier of the link of the stream.
    let id: String

    /// Creates the parameters from a query; `nil` if it names no conditions.
    ///
    /// ``LinkRegistry/link(_:for:)`` refuses names of unknown conditions.
    package init?(_ query: QueryItems, source: ResourceAddress) {
        guard let conditions = query["conditions"] else { return nil }
        self.conditions = conditions
        let stream = LinkRegistry.Stream(source: source, conditions: conditions)
        let given = query["link"].flatMap { Self.isIdentifier($0) ? $0 : nil }
        id = given ?? LinkRegistry.identifier(stream)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        return (1...16).contains(text.utf8.count) && isPlain
    }

    /// The parameters as query items, for the addresses of children.
    var items: [QueryItems.Item] {
        [QueryItems.Item(name: "conditions", value: conditions), QueryItems.Item(name: "link", value: id)]
    }
}
