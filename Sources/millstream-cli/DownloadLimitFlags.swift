import ArgumentParser
import MediaTiming
import MediaTransport
import MillstreamDownloads

/// The options of `millstream download`, `record` and `downloads resume` that limit a download.
struct DownloadLimitFlags<Defaults: DownloadLimitDefaults>: ParsableArguments {
    @Option(
        name: .long,
        help: "The maximum rate in bits per second, such as 2M (default: \(Defaults.rate))."
    )
    var limitRate: String?

    @Option(
        name: .long,
        help: "The maximum size of the download, such as 20G; decimal multiples of bytes (default: \(Defaults.size))."
    )
    var maxSize: String?

    @Option(
        name: .long,
        help: "The space to leave free on the disk, such as 1G (default: \(Defaults.freeSpace))."
    )
    var minFreeSpace: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Do not download on networks of these kinds: cellular, expensive or constrained, comma-separated (default: \
            \(Defaults.networks)).
            """,
            valueName: "kinds"
        ),
        completion: .list(["cellular", "expensive", "constrained"])
    )
    var avoidNetworks: String?

    func validate() throws { _ = try applied(to: DownloadConfiguration()) }

    /// A Boolean value that indicates whether an option is given.
    var isUsed: Bool { [limitRate, maxSize, minFreeSpace, avoidNetworks].contains { $0 != nil } }

    /// Returns the options of a download with the limits that are given instead of its own.
    ///
    /// - Parameter configuration: The options of the download.
    /// - Returns: The changed options.
    /// - Throws: `ValidationError` if an option is invalid.
    func applied(to configuration: DownloadConfiguration) throws -> DownloadConfiguration {
        var configuration = configuration
        if let rate = try DownloadRate.parse(limitRate) { configuration.maximumRate = rate }
        if let maxSize {
            guard let size = Self.size(maxSize), size > .zero else {
                throw ValidationError("--max-size must be a number of bytes above 0, such as 20G")
            }
            configuration.limits.assetSize = size
        }
        if let minFreeSpace {
            guard let size = Self.size(minFreeSpace) else {
                throw ValidationError("--min-free-space must be a number of bytes, such as 1G")
            }
            configuration.limits.freeSpace = size
        }
        if let avoidNetworks { configuration.acceptedNetworks = try Self.networks(except: avoidNetworks) }
        return configuration
    }

    /// Returns all kinds of networks except those in a comma-separated list.
    private static func networks(except list: String) throws -> NetworkCost {
        try list.split(separator: ",").map(String.init).reduce(into: DownloadConfiguration.allNetworks) {
            accepted,
            name in
            guard let kind = NetworkCost(kind: name) else {
                throw ValidationError("--avoid-networks must name cellular, expensive or constrained, not \(name)")
            }
            accepted.remove(kind)
        }
    }

    /// Returns a number of bytes with an optional decimal multiple, as for bit rates.
    private static func size(_ text: String) -> ByteCount? { BitRate(text).map { ByteCount($0.bitsPerSecond) } }
}

/// A parser for the value of `--limit-rate`.
enum DownloadRate {
    /// Returns the rate that the option names; `nil` if it is not given.
    ///
    /// - Throws: `ValidationError` if the text is not a bit rate of at least 8 kbit/s.
    static func parse(_ text: String?) throws -> BitRate? {
        guard let text else { return nil }
        guard let rate = BitRate(text), rate.bitsPerSecond >= 8_000 else {
            throw ValidationError("--limit-rate must be a bit rate of at least 8k, such as 2M")
        }
        return rate
    }
}

/// The defaults of the limits of a download, as help texts name them.
protocol DownloadLimitDefaults: Sendable {
    static var rate: String { get }
    static var size: String { get }
    static var freeSpace: String { get }
    static var networks: String { get }
}

/// The defaults of a new download.
enum NewDownloadLimits: DownloadLimitDefaults {
    static let rate = "no limit"
    static let size = "1 TiB"
    static let freeSpace = "256 MiB"
    static let networks = "none"
}

/// The defaults of a download that is continued, which keeps its own limits.
enum StoredDownloadLimits: DownloadLimitDefaults {
    static let rate = "that of the download"
    static let size = "that of the download"
    static let freeSpace = "that of the download"
    static let networks = "those of the download"
}
