import ArgumentParser
import AssetStorage
import Foundation
import MillstreamDownloads
import PlaylistEditing
import ReportFormat
import ResourceAddressing

extension LibraryCommand {
    /// The command `millstream library repair`.
    struct RepairCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "repair",
            abstract: "Verify every stored file and replace those that are missing or damaged.",
            discussion: """
                Only files that were stored before are downloaded again. To complete an asset, use "millstream \
                download". If some assets cannot be repaired, the others are repaired nevertheless.

                Example: millstream library repair abc123
                """
        )

        @Argument(
            help: ArgumentHelp(
                "The identifiers, sources or paths of the assets (default: all assets).",
                valueName: "ids"
            )
        )
        var references: [String] = []
        @Option(name: .long, help: "The number of simultaneous downloads, 1 to 64.") var jobs: Int = 6
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags
        @Flag(name: .long, help: "Hide progress.") var quiet = false
        @OptionGroup(title: "DASH") var dash: DASHFlags
        @OptionGroup(title: "HTTP") var http: HTTPFlags

        private var json: Bool { reportFormat.isJSON }

        func validate() throws {
            guard (1...64).contains(jobs) else { throw ValidationError("--jobs must be between 1 and 64") }
        }

        func run() async throws {
            if references.isEmpty, try library.openForReading() == nil { return try write([]) }
            let library = try library.openForWriting()
            var failures = Failures()
            var reports: [ReportValue] = []
            for reference in try references.isEmpty ? library.summaries().map(\.id) : references {
                try await failures.collect {
                    let id = try library.identifier(of: reference)
                    let result = try await repair(id, in: library)
                    reports.append(Self.report(id, result))
                    if !json { try Self.write(library.asset(id), result, in: library) }
                    if let failure = result.failure { throw failure }
                }
            }
            try write(reports)
            try failures.finish()
        }

        private func repair(_ id: String, in library: AssetLibrary) async throws -> AssetRepair.Result {
            let configuration = DownloadConfiguration(maximumConcurrentFetches: jobs)
            let display = ProgressDisplay(isQuiet: quiet || json)
            defer { display.end() }
            let evictions = library.observeEvictions { entry in
                DownloadPrinter.showEviction(entry, display)
            }
            defer { withExtendedLifetime(evictions) {} }
            let asset = try library.asset(id)
            let others = DownloadSelection(asset.selection)?.edits.sources ?? []
            return try await http.withLoading(source: asset.source.text, others: others) { loading in
                let repair = try AssetRepair(
                    id,
                    in: library,
                    loader: dash.bridging(loading),
                    configuration: configuration
                )
                return try await Interruption.cancelling {
                    try await repair.run { display.show($0) }
                }
            }
        }

        private func write(_ reports: [ReportValue]) throws {
            if json { try StandardOutput.writeLine(ReportValue.array(reports)) }
        }

        private static func write(
            _ asset: StoredAsset,
            _ result: AssetRepair.Result,
            in library: AssetLibrary
        ) throws {
            guard !result.damaged.isEmpty else {
                return try StandardOutput.writeLine("\(asset.id)  \(asset.intactText(in: library))")
            }
            let id = asset.id
            let damaged = QuantityText.count(result.damaged.count, "missing or damaged file")
            try StandardOutput.writeLine("\(id)  \(result.repaired.count) of \(damaged) replaced")
            let repaired = Set(result.repaired)
            for path in result.damaged {
                try StandardOutput.writeLine("  \(path)\(repaired.contains(path) ? "" : " (still missing)")")
            }
        }

        private static func report(_ id: String, _ result: AssetRepair.Result) -> ReportValue {
            .fields([
                "id": .string(id),
                "lost": .strings(result.damaged),
                "repaired": .strings(result.repaired),
            ])
        }
    }
}
