import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import ReportFormat

extension LibraryCommand {
    /// The command `millstream library evict`.
    struct EvictCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "evict",
            abstract: "Delete expired assets, and as many others as the limits require.",
            discussion: """
                Assets that are pinned, or that are being played, downloaded or verified, or that wait for a download, are not \
                deleted. Assets with the default priority are deleted before important ones, and older ones before newer ones.

                The limits of millstream library limits apply unless others are given.

                Example: millstream library evict --dry-run --need 2G
                """
        )

        @Option(name: .long, help: "The number of bytes to make available, such as 2G (default: 0).")
        var need: String?
        @Option(
            name: .long,
            help: "The maximum number of bytes that the library occupies, such as 50G (default: the stored limit)."
        )
        var quota: String?
        @Option(
            name: .long,
            help: "The number of bytes that must remain free on the disk, such as 1G (default: the stored limit)."
        )
        var minFreeSpace: String?
        @Flag(name: .long, help: "Print the assets that would be deleted, without deleting them.") var dryRun = false
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            let quota = try StorageSize.parse(quota, "--quota")
            let minimumFreeSpace = try StorageSize.parse(minFreeSpace, "--min-free-space")
            let need = try StorageSize.parse(need, "--need") ?? .zero
            let library = try dryRun ? library.openExisting() : library.openForWriting()
            var limits = try library.storageLimits()
            if let quota { limits.quota = quota }
            if let minimumFreeSpace { limits.minimumFreeSpace = minimumFreeSpace }
            let plan =
                dryRun
                ? try library.evictionPlan(limits: limits, need: need)
                : try library.evict(limits: limits, need: need)
            if json {
                try StandardOutput.writeLine(plan.report)
            } else {
                for entry in plan.entries {
                    try StandardOutput.writeLine(
                        "\(entry.id)  \(entry.freedBytes)  \(entry.reason.rawValue)  \(entry.title)"
                    )
                }
                let verb = dryRun ? "to delete" : "deleted"
                try StandardOutput.writeLine(
                    "\(QuantityText.count(plan.entries.count, "asset")) \(verb), \(plan.freedBytes)"
                )
                if !plan.insufficientEntries.isEmpty {
                    let count = QuantityText.count(plan.insufficientEntries.count, "asset")
                    try StandardOutput.writeLine(
                        "\(count) not deleted, \(plan.insufficientBytes), because that would not be enough:"
                    )
                }
                for entry in plan.insufficientEntries {
                    try StandardOutput.writeLine("\(entry.id)  \(entry.freedBytes)  \(entry.title)")
                }
            }
            guard plan.shortfall == .zero else {
                throw Failure(
                    .failed,
                    "disk-full",
                    Self.shortfallText(plan),
                    hint: "unpin or delete assets, or end their playback and downloads"
                )
            }
        }

        /// Describes what a plan cannot make available, and why.
        private static func shortfallText(_ plan: EvictionPlan) -> String {
            let others = plan.entries.isEmpty ? "" : "other "
            guard !plan.insufficientEntries.isEmpty else {
                return "no \(others)asset can be deleted to make \(plan.shortfall) more available"
            }
            return "deleting all \(others)assets that can be deleted would not be enough, so that none of them is "
                + "deleted: \(plan.shortfall) would still be missing"
        }
    }

    /// The command `millstream library policy`.
    struct PolicyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "policy",
            abstract: "Print or change the storage policy of an asset.",
            discussion: "Example: millstream library policy abc123 --priority important --expires 2030-01-31T00:00:00Z"
        )

        @Argument(help: "The identifier of the asset, the URL of its source, or the path of its package.")
        var asset: String
        @Flag(
            inversion: .prefixedNo,
            exclusivity: .exclusive,
            help: "Exclude the asset from eviction, or allow its eviction again (default: no change)."
        )
        var pin: Bool?
        @Option(
            name: .long,
            help: "The eviction priority: default or important (default: no change).",
            completion: .list(StoragePolicy.Priority.allCases.map(\.rawValue))
        )
        var priority: String?
        @Option(name: .long, help: "The expiration date in ISO 8601 form, or never (default: no change).")
        var expires: String?
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            let isChanged = pin != nil || priority != nil || expires != nil
            let library = try isChanged ? library.openForWriting() : library.openExisting()
            let id = try library.identifier(of: asset)
            var policy = try library.storagePolicy(id)
            if let pin { policy.isPinned = pin }
            if let priority {
                guard let value = StoragePolicy.Priority(rawValue: priority) else {
                    throw ValidationError("--priority must be default or important")
                }
                policy.priority = value
            }
            if let expires {
                let date = expires == "never" ? nil : try? Date(expires, strategy: .iso8601)
                guard date != nil || expires == "never" else {
                    throw ValidationError("--expires must be a date such as 2030-01-31T00:00:00Z, or never")
                }
                policy.expirationDate = date
            }
            if isChanged { try library.setStoragePolicy(policy, of: id) }
            let expirationDate = policy.expirationDate?.formatted(.iso8601)
            guard !json else {
                return try StandardOutput.writeLine(
                    ReportValue.fields([
                        "id": .string(id),
                        "pinned": .bool(policy.isPinned),
                        "priority": .string(policy.priority.rawValue),
                        "expires": expirationDate.map { .string($0) },
                    ])
                )
            }
            try StandardOutput.writeLine("pinned     \(policy.isPinned ? "yes" : "no")")
            try StandardOutput.writeLine("priority   \(policy.priority.rawValue)")
            try StandardOutput.writeLine("expires    \(expirationDate ?? "never")")
        }
    }
}
