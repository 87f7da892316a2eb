/// What speaks against using a network freely.
public struct NetworkCost: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// What is transferred is paid for: cellular networks, and the hotspot of a telephone.
    public static let expensive = NetworkCost(rawValue: 1)
    /// The user asked that little be transferred.
    public static let constrained = NetworkCost(rawValue: 2)
    /// It is a cellular network.
    public static let cellular = NetworkCost(rawValue: 4)
}

extension NetworkCost: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        let names: [(NetworkCost, String)] = [
            (.cellular, "cellular"), (.expensive, "expensive"), (.constrained, "constrained"),
        ]
        let held = names.filter { contains($0.0) }.map(\.1)
        return held.isEmpty ? "free" : held.joined(separator: ", ")
    }
}
