import Synchronization

/// What is known of the network that this machine uses now.
///
/// An application that knows better than the machine says so; ``cost`` is asked before each request and each choice of a
/// variant, from any task.
public final class NetworkStatus: Sendable {
    private let told: Mutex<NetworkCost?>
    private let read: @Sendable () -> NetworkCost?

    /// Makes a status that the application keeps up to date.
    ///
    /// - Parameter cost: What speaks against using it; `nil` for not known.
    public init(cost: NetworkCost? = nil) {
        told = Mutex(cost)
        read = { nil }
    }

    /// Makes a status that is read each time that it is asked for, until somebody sets it.
    ///
    /// - Parameter read: Reads it; it should return at once.
    public init(reading read: @escaping @Sendable () -> NetworkCost?) {
        told = Mutex(nil)
        self.read = read
    }

    /// What the routes of this machine say: on Linux, whether the default route leads through a cellular modem.
    ///
    /// Elsewhere it knows nothing; set ``cost`` there, from the system's own monitor.
    public static let system = NetworkStatus(reading: { DefaultRoute().cost })

    /// What speaks against using the network; `nil` where nobody knows.
    ///
    /// Once set it stays as it was set; `nil` asks the machine again.
    public var cost: NetworkCost? {
        get { told.withLock { $0 } ?? read() }
        set { told.withLock { $0 = newValue } }
    }
}
