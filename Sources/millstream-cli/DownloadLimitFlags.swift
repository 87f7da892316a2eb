import ArgumentParser
import MediaTiming
import MediaTransport
import MillstreamDownloads

/// The limits of a new download, of `millstream download` and `millstream record`.
struct DownloadLimitFlags: ParsableArguments {
    @Option(name: .long, help: "The maximum rate in bits per second, such as 2M (default: no limit).")
    var limitRate: String?

    @Option(
        name: .long,
        help: "The maximum size of the download, such as 20G; decimal multiples of bytes (default: 1 TiB)."
    )
    var maxSize: String?

    @Option(name: .long, help: "The space to leave free on the disk, such as 1G (default: 268M).")
    var minFreeSpace: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Do not download on networks of these kinds: cellular, expensive or constrained, comma-separated.",
            valueName: "kinds"
        )
    )
    var avoidNetworks: String?

    func validate() throws { try texts.validate() }

    /// The values of the options.
    var texts: DownloadLimitTexts {
        DownloadLimitTexts(
            limitRate: limitRate,
            maxSize: maxSize,
            minFreeSpace: minFreeSpace,
            avoidNetworks: avoidNetworks
        )
    }
}

/// The limits of an existing download, of `millstream downloads resume`, which keeps its own limits where no option is given.
struct ChangedDownloadLimitFlags: ParsableArguments {
    @Option(
        name: .long,
        help: "The maximum rate in bits per second, such as 2M (default: that of the download)."
    )
    var limitRate: String?

    @Option(
        name: .long,
        help: """
            The maximum size of the download, such as 20G; decimal multiples of bytes (default: that of the download).
            """
    )
    var maxSize: String?

    @Option(
        name: .long,
        help: "The space to leave free on the disk, such as 1G (default: that of the download)."
    )
    var minFreeSpace: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Do not download on networks of these kinds: cellular, expensive or constrained, comma-separated (default: \
            those of the download).
            """,
            valueName: "kinds"
        )
    )
    var avoidNetworks: String?

    func validate() throws { try texts.validate() }

    /// The values of the options.
    var texts: DownloadLimitTexts {
        DownloadLimitTexts(
            limitRate: limitRate,
            maxSize: maxSize,
            minFreeSpace: minFreeSpace,
            avoidNetworks: avoidNetworks
        )
    }
}

/// The values of the options for limits of a download; `nil` for options that are not given.
struct DownloadLimitTexts: Sendable {
    let limitRate: String?
    let maxSize: String?
    let minFreeSpace: String?
    let avoidNetworks: String?

    func validate() throws {
        _ = try limits()
        _ = try maximumRate()
        _ = try acceptedNetworks()
    }

    /// A Boolean value that indicates whether an option is given.
    var isUsed: Bool { [limitRate, maxSize, minFreeSpace, avoidNetworks].contains { $0 != nil } }

    /// Returns the options of a download with the limits that are given instead of its own.
    func applied(to configuration: DownloadConfiguration) throws -> DownloadConfiguration {
        var configuration = configuration
        configuration.limits = try limits(replacing: configuration.limits)
        if limitRate != nil { configuration.maximumRate = try maximumRate() }
        if avoidNetworks != nil { configuration.acceptedNetworks = try acceptedNetworks() }
        return configuration
    }

    /// Returns the limits of sizes.
    ///
    /// - Parameter others: The limits that apply where no option is given.
    /// - Returns: The limits.
    /// - Throws: `ValidationError` if an option is invalid.
    func limits(replacing others: DownloadLimits = DownloadLimits()) throws -> DownloadLimits {
        var limits = others
        if let maxSize {
            guard let size = Self.size(maxSize), size > .zero else {
                throw ValidationError("--max-size must be a number of bytes above 0, such as 20G")
            }
            limits.assetSize = size
        }
        if let minFreeSpace {
            guard let size = Self.size(minFreeSpace) else {
                throw ValidationError("--min-free-space must be a number of bytes, such as 1G")
            }
            limits.freeSpace = size
        }
        return limits
    }

    /// Returns the kinds of networks that the download may use.
    func acceptedNetworks() throws -> NetworkCost {
        let names = avoidNetworks?.split(separator: ",").map(String.init) ?? []
        return try names.reduce(into: DownloadConfiguration.allNetworks) { accepted, name in
            guard let kind = NetworkCost(kind: name) else {
                throw ValidationError("--avoid-networks must name cellular, expensive or constrained, not \(name)")
            }
            accepted.remove(kind)
        }
    }

    /// Returns the maximum rate; `nil` for no limit.
    func maximumRate() throws -> BitRate? {
        guard let limitRate else { return nil }
        guard let rate = BitRate(limitRate), rate.bitsPerSecond >= 8_000 else {
            throw ValidationError("--limit-rate must be a bit rate of at least 8k, such as 2M")
        }
        return rate
    }

    /// Returns a number of bytes with an optional decimal multiple, as for bit rates.
    private static func size(_ text: String) -> ByteCount? { BitRate(text).map { ByteCount($0.bitsPerSecond) } }
}
