import ArgumentParser
import AssetStorage
import MediaTiming
import ReportFormat

/// The command `millstream library limits`.
struct LibraryLimitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits",
        abstract: "Print or change the limits on the disk space of the library.",
        discussion: """
            The limits are stored in the library. Downloads make space available within them: they delete assets in the order of \
            millstream library evict, and print the deleted assets, also with --quiet. A download that is too large by the bit \
            rates of its playlist is refused before anything is deleted. Commands that download, and millstream serve, apply the \
            limits when they start and every minute. They also delete expired assets, even if no limits are set.

            Example: millstream library limits --quota 50G --min-free-space 2G
            """
    )

    @Option(
        name: .long,
        help: "The maximum number of bytes that the library occupies, such as 50G, or none (default: no change)."
    )
    var quota: String?
    @Option(
        name: .long,
        help: "The number of bytes that must remain free on the disk, such as 1G, or none (default: no change)."
    )
    var minFreeSpace: String?
    @OptionGroup var library: LibraryFlags
    @OptionGroup var reportFormat: ReportFormatFlags

    func validate() throws {
        _ = try Self.limits(StorageLimits(), quota, minFreeSpace)
    }

    func run() async throws {
        let isChanged = quota != nil || minFreeSpace != nil
        let library = try isChanged ? library.open() : library.openExisting()
        let limits = try Self.limits(library.storageLimits(), quota, minFreeSpace)
        if isChanged { try library.setStorageLimits(limits) }
        let used = library.diskUsage.occupiedBytes
        let (free, floor) = (library.freeSpace, limits.minimumFreeSpace)
        guard !reportFormat.isJSON else {
            return try StandardOutput.writeLine(
                ReportValue.fields([
                    "quota": limits.quota.map { .integer($0.bytes) }, "minimumFreeSpace": .integer(floor.bytes),
                    "used": .integer(used.bytes), "free": free.map { .integer($0.bytes) },
                ])
            )
        }
        try StandardOutput.writeLine("quota           \(limits.quota?.description ?? "none")")
        try StandardOutput.writeLine("min free space  \(floor == .zero ? "none" : floor.description)")
        try StandardOutput.writeLine("used            \(used)")
        try StandardOutput.writeLine("free            \(free?.description ?? "unknown")")
    }

    /// Returns limits with the changes that the options name.
    private static func limits(
        _ limits: StorageLimits,
        _ quota: String?,
        _ minFreeSpace: String?
    ) throws -> StorageLimits {
        var limits = limits
        if let quota { limits.quota = quota == "none" ? nil : try StorageSize.parse(quota, "--quota") }
        if let minFreeSpace {
            limits.minimumFreeSpace =
                minFreeSpace == "none" ? .zero : try StorageSize.parse(minFreeSpace, "--min-free-space") ?? .zero
        }
        return limits
    }
}

/// The form of sizes in options of the storage of a library.
enum StorageSize {
    /// Returns the number of bytes that an option gives, such as `500M`; `nil` if the option is not given.
    ///
    /// - Throws: `ValidationError` if the text has another form.
    static func parse(_ text: String?, _ name: String) throws -> ByteCount? {
        guard let text else { return nil }
        guard let size = BitRate(text) else {
            throw ValidationError("\(name) must be a number of bytes, such as 500M, 1G or 2T, not \"\(text)\"")
        }
        return ByteCount(size.bitsPerSecond)
    }
}
