import ArgumentParser
import AssetStorage
import MediaTiming
import ReportFormat

/// The command `millstream library verify`.
struct LibraryVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify the size and checksum of every stored file.",
        discussion: """
            Damaged files are marked as missing; "millstream library repair" replaces them. If some assets cannot be \
            verified, the others are verified nevertheless.

            An incomplete download is not an error. The number of its missing files is printed for each media \
            playlist.

            The command lists files in the folder of an asset that do not belong to it. It does not remove them \
            without --remove-unknown.

            Example: millstream library verify abc123
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The identifiers, sources or paths of the assets (default: all assets).",
            valueName: "ids"
        )
    )
    var references: [String] = []
    @Flag(name: .long, help: "Remove files in the folders of the assets that do not belong to them.")
    var removeUnknown = false
    @OptionGroup var library: LibraryFlags
    @OptionGroup var reportFormat: ReportFormatFlags

    private var json: Bool { reportFormat.isJSON }

    func run() async throws {
        var failures = Failures()
        var reports: [ReportValue] = []
        var isIntact = true
        var hasUnlisted = false
        for (library, reference) in try assets() {
            try failures.collect {
                let id = try library.identifier(of: reference)
                let result = try library.verify(id)
                isIntact = isIntact && result.damaged.isEmpty
                hasUnlisted = hasUnlisted || !result.unlisted.isEmpty
                if removeUnknown, !result.unknown.isEmpty { try library.removeUnknownFiles(id) }
                let asset = try library.asset(id)
                let missing = try asset.state == .complete ? [] : library.fileCounts(of: id).filter { $0.missing > 0 }
                reports.append(Self.report(asset, result, missing))
                if !json { try write(asset, result, missing, in: library) }
            }
        }
        if json { try StandardOutput.writeLine(ReportValue.array(reports)) }
        if !isIntact {
            try failures.add(
                Failure(
                    .failed,
                    "package-damaged",
                    "files are missing or damaged",
                    hint: "replace them with: millstream library repair"
                )
            )
        }
        if hasUnlisted {
            try failures.add(
                Failure(
                    .failed,
                    "package-damaged",
                    "playlists name files that the library does not have",
                    hint: "delete the assets with these files, and store the streams again"
                )
            )
        }
        try failures.finish()
    }

    /// Returns the assets to verify, with their library, which is not created if it does not exist.
    private func assets() throws -> [(library: AssetLibrary, reference: String)] {
        if references.isEmpty, !library.lacksCatalog, try library.openForReading() == nil { return [] }
        let opened = try library.openForWriting()
        return try (references.isEmpty ? opened.assets().map(\.id) : references).map { (opened, $0) }
    }

    private func write(
        _ asset: StoredAsset,
        _ result: VerificationResult,
        _ missing: [StoredFileCounts],
        in library: AssetLibrary
    ) throws {
        try StandardOutput.writeLine("\(asset.id)  \(Self.summary(result, asset, in: library))")
        for path in result.damaged {
            // A playlist is written from the catalog.
            try StandardOutput.writeLine("  \(path)\(path.hasSuffix(".m3u8") ? " (written again)" : "")")
        }
        for counts in missing { try StandardOutput.writeLine("  \(counts.folder): \(Self.text(counts))") }
        for path in result.unlisted { try StandardOutput.writeLine("  \(path) (not in the library)") }
        for path in result.unknown {
            try StandardOutput.writeLine("  \(path) (\(removeUnknown ? "unknown, removed" : "unknown"))")
        }
    }

    /// Returns the text for the files of a media playlist that are not stored yet.
    private static func text(_ counts: StoredFileCounts) -> String {
        let files = "\(counts.missing) of \(QuantityText.count(counts.total, "file")) not stored"
        return counts.unfinished > 0 ? "\(files), \(counts.unfinished) of them in part" : files
    }

    private static func summary(
        _ result: VerificationResult,
        _ asset: StoredAsset,
        in library: AssetLibrary
    ) -> String {
        guard result.damaged.isEmpty else {
            return "\(QuantityText.count(result.damaged.count, "file")) missing or damaged"
        }
        guard result.unlisted.isEmpty else {
            return "\(QuantityText.count(result.unlisted.count, "file")) not in the library"
        }
        let intact = asset.intactText(in: library)
        guard result.withoutChecksum > 0 else { return intact }
        let files = QuantityText.count(result.withoutChecksum, "file")
        return "\(intact) (only the size of \(files) was verified)"
    }

    private static func report(
        _ asset: StoredAsset,
        _ result: VerificationResult,
        _ missing: [StoredFileCounts]
    ) -> ReportValue {
        .fields([
            "id": .string(asset.id),
            "state": .string(asset.state.rawValue),
            "lost": .strings(result.damaged),
            "withoutChecksum": .integer(Int64(clamping: result.withoutChecksum)),
            "missing": missing.isEmpty ? nil : .array(missing.map { Self.report($0) }),
            "unlisted": result.unlisted.isEmpty ? nil : .strings(result.unlisted),
            "unknown": result.unknown.isEmpty ? nil : .strings(result.unknown),
        ])
    }

    private static func report(_ counts: StoredFileCounts) -> ReportValue {
        .fields([
            "path": .string(counts.folder),
            "files": .integer(Int64(clamping: counts.missing)),
            "total": .integer(Int64(clamping: counts.total)),
            "unfinished": .integer(Int64(clamping: counts.unfinished)),
        ])
    }
}
