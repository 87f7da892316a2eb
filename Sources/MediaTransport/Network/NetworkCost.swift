/// The reasons to limit data usage on a network.
public struct NetworkCost: OptionSet, Sendable, Hashable {
    /// The bit mask.
    public let rawValue: Int

    /// Creates a set from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The network charges for data, such as a cellular network or a personal hotspot.
    public static let expensive = NetworkCost(rawValue: 1)
    /// The user has enabled a mode that reduces data usage.
    public static let constrained = NetworkCost(rawValue: 2)
    /// The network is cellular.
    public static let cellular = NetworkCost(rawValue: 4)
}

extension NetworkCost: CustomStringConvertible {
    private static let names: [(NetworkCost, String)] = [
        (.cellular, "cellular"), (.expensive, "expensive"), (.constrained, "constrained"),
    ]

    /// Creates a set of one kind from its name in ``description``; `nil` for any other text.
    package init?(kind name: String) {
        guard let kind = Self.names.first(where: { $0.1 == name }) else { return nil }
        self = kind.0
    }

    /// The set as text for messages.
    public var description: String {
        let contained = Self.names.filter { contains($0.0) }.map(\.1)
        return contained.isEmpty ? "free" : contained.joined(separator: ", ")
    }
}
