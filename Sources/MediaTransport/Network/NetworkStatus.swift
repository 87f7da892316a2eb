import Synchronization

/// The status of the network that the device uses.
///
/// An application can set ``cost`` if it has better information than the system. The value is read by any task before
/// each request and before each selection of a variant.
public final class NetworkStatus: Sendable {
    private let overriddenCost: Mutex<NetworkCost?>
    private let readCost: @Sendable () -> NetworkCost?

    /// Creates a status that the application updates.
    ///
    /// - Parameter cost: The cost of the network; `nil` if it is unknown.
    public init(cost: NetworkCost? = nil) {
        overriddenCost = Mutex(cost)
        readCost = { nil }
    }

    /// Creates a status that is read by a closure whenever it is needed, until ``cost`` is set.
    ///
    /// - Parameter read: A closure that returns the cost; it must not block.
    public init(readingCost read: @escaping @Sendable () -> NetworkCost?) {
        overriddenCost = Mutex(nil)
        self.readCost = read
    }

    /// The status from the routing table of the system: on Linux, whether the default route uses a cellular modem.
    ///
    /// On other systems the cost is unknown; set ``cost`` from the network monitor of the system.
    public static let system = NetworkStatus(readingCost: { DefaultRoute().cost })

    /// The cost of the network; `nil` if it is unknown.
    ///
    /// A value that was set has priority over the system; set `nil` to use the value of the system again.
    public var cost: NetworkCost? {
        get { overriddenCost.withLock { $0 } ?? readCost() }
        set { overriddenCost.withLock { $0 = newValue } }
    }
}
