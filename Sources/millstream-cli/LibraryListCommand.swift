import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import MillstreamDownloads
import ReportFormat

extension LibraryCommand {
    /// The command `millstream library list`.
    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List downloaded assets.",
            discussion: """
                The size is the space that the asset occupies on the disk.

                Example: millstream library list --json
                """
        )

        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            let flags = library
            let library = try flags.openForListing()
            let summaries = try library?.summaries() ?? []
            if json {
                try StandardOutput.writeLine(try Self.report(summaries, in: library))
                return
            }
            if library == nil, let directory = flags.namedDirectory {
                let path = directory.path
                StandardError.write("there is no library in \(path); millstream download creates one\n")
                return
            }
            guard !summaries.isEmpty else {
                StandardError.write("there are no downloaded assets; download one with: millstream download URL\n")
                return
            }
            // One write, because the list may be long.
            try StandardOutput.writeLine(AssetTable(summaries, in: library).text)
        }

        private static func report(_ summaries: [AssetSummary], in library: AssetLibrary?) throws -> ReportValue {
            guard let library else { return .array([]) }
            let known = Dictionary(summaries.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let progress = UnfinishedAssets(in: library, areListed: summaries.contains { $0.state != .complete })
            return .array(
                try library.assets().map { progress.report(of: $0).adding(known[$0.id]) }
            )
        }
    }

    /// The command `millstream library show`.
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one asset.",
            discussion: "Example: millstream library show abc123"
        )

        @Argument(help: "The identifier of the asset, the URL of its source, or the path of its package.")
        var asset: String
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            let library = try library.openExisting()
            let id = try library.identifier(of: asset)
            var asset = try library.asset(id)
            let isStored = asset.isPlayableOffline
            asset.isPlayableOffline = library.isPlayableOffline(id)
            let summary = try library.summary(id)
            let progress = UnfinishedAssets(in: library, areListed: asset.state != .complete)
            let share = progress.percent(of: asset)
            if json {
                let report = progress.report(of: asset).adding(summary)
                return try StandardOutput.writeLine(report.adding(library.omittedContent(of: id)))
            }
            try StandardOutput.writeLine("\(asset.title)")
            let missing =
                library.hasPackage(id)
                ? ", but files are missing: millstream library repair \(id)"
                : ", but its package was moved or deleted: move it back to the path below, or delete the asset"
            let offline = asset.isPlayableOffline ? ", playable offline" : isStored ? missing : ""
            let percent = asset.state == .complete ? "" : ", \(Int(saturating: share)) %"
            let rows = [
                ["ID", asset.id], ["source", "\(asset.source)"], ["state", asset.state.rawValue + percent + offline],
                ["duration", asset.duration.map { QuantityText.clock($0) } ?? "unknown"],
                ["size", "\(summary.diskBytes) on the disk, \(asset.bytes) of media"],
                ["date", LocalDate(summary.creationDate).description], ["selection", asset.selectionWithoutSecrets],
                ["path", library.packageDirectory(asset.id).path],
            ]
            let next = try library.nextMediaSelection(of: id).map { ["next", "\(Self.label(of: $0)) is not stored"] }
            let omitted = try library.omittedContent(of: id).text.map { ["not stored", $0] }
            let artwork = asset.artworkFormat.map { ["artwork", $0.contentType] }
            for row in rows + asset.renditions.map(Self.row) + [artwork, omitted, next].compactMap({ $0 }) {
                let name = TerminalText(escaping: row[0])
                try StandardOutput.writeLine("\(name.padded(to: 11))\(TerminalText(escaping: row[1]))")
            }
        }

        private static func label(of next: NextMediaSelection) -> String {
            let type = next.characteristic == .audible ? "audio" : "subtitles"
            return ([type] + [next.language].compactMap { $0 }).joined(separator: " ") + " (\(next.name))"
        }

        /// Returns the languages of tracks of a media file; `nil` if none is known.
        private static func languages(_ languages: [String], _ type: String) -> String? {
            let known = languages.filter { $0 != "und" }
            return known.isEmpty ? nil : "\(type) \(known.joined(separator: ","))"
        }

        private static func row(_ rendition: StoredRendition) -> [String] {
            let parts: [String?] = [
                rendition.height.map { "\($0)p" },
                (rendition.bandwidth ?? rendition.averageBitRate).map { $0.description }, rendition.language,
                languages(rendition.audioLanguages, "audio"), languages(rendition.subtitleLanguages, "subtitles"),
                rendition.codecs.isEmpty ? nil : rendition.codecs.joined(separator: ","),
                rendition.isComplete
                    ? "complete" : "\(QuantityText.clock(rendition.loadedTimeRanges.totalDuration)) stored",
            ]
            return [rendition.role.rawValue, parts.compactMap { $0 }.joined(separator: ", ")]
        }
    }
}

/// A table of downloaded assets, with their number and total size in its last line.
private struct AssetTable {
    let text: TerminalText

    private static let header: [StaticString] = [
        "ID", "title", "state", "length", "quality", "languages", "size", "date",
    ]

    /// Creates the table of the assets with the given summaries.
    init(_ summaries: [AssetSummary], in library: AssetLibrary?) {
        let progress = library.map { library in
            UnfinishedAssets(in: library, areListed: summaries.contains { $0.state != .complete })
        }
        let rows = summaries.map { Self.row($0, progress) }
        let table = TerminalTable(header: Self.header, rows: rows)
        let total = library?.diskBytes(of: summaries) ?? .zero
        let shared = summaries.reduce(ByteCount.zero) { $0 + $1.diskBytes } - total
        let note = shared > .zero ? " (\(shared) less than the sum, because files that assets share count once)" : ""
        let quota = (try? library?.storageLimits())?.quota.map { " of at most \($0)" } ?? ""
        text = table.text + "\n\(QuantityText.count(summaries.count, "asset")), \(total)\(quota)\(note)"
    }

    /// The maximum width of a title, in columns; longer ones are shortened, so that the other columns stay in sight.
    private static let maximumTitleWidth = 60

    private static func row(_ summary: AssetSummary, _ progress: UnfinishedAssets?) -> [String] {
        let title = summary.title.escapedForTerminal.fitting(columns: maximumTitleWidth)
        return [
            summary.id, title, state(summary, progress),
            summary.duration.map { QuantityText.clock($0) } ?? "", summary.quality, summary.languages,
            summary.diskBytes.description, LocalDate(summary.creationDate).description,
        ]
    }

    private static func state(_ summary: AssetSummary, _ progress: UnfinishedAssets?) -> String {
        if summary.state == .complete { return "complete" }
        // The asset can be played offline, but some selected files, such as another variant, are not stored.
        if summary.isPlayableOffline, progress?.isDownloading(summary.id) != true || summary.percent >= 99.9 {
            return "playable"
        }
        return "\(Int(saturating: progress?.percent(of: summary) ?? summary.percent)) %"
    }
}

extension ReportValue {
    /// Returns the report of an asset with the parts of the presentation that are not stored.
    fileprivate func adding(_ omitted: OmittedContent) -> ReportValue {
        guard case .object(let fields) = self, let report = omitted.report else { return self }
        return .object(fields + [Field(name: "notStored", value: report)])
    }

    /// Returns the report of an asset with the disk space and the date of its summary.
    fileprivate func adding(_ summary: AssetSummary?) -> ReportValue {
        guard case .object(let fields) = self, let summary else { return self }
        return .object(
            fields + [
                Field(name: "diskBytes", value: .integer(summary.diskBytes.bytes)),
                Field(name: "created", value: .string(summary.creationDate.formatted(.iso8601))),
            ]
        )
    }
}

/// A day in the Gregorian calendar and the time zone of the user.
private struct LocalDate: CustomStringConvertible {
    /// The year, month and day, such as `2030-01-31`.
    let description: String

    init(_ date: Date) {
        var seconds = time_t(Int(saturating: date.timeIntervalSince1970))
        var parts = tm()
        // A formatter of Foundation takes much longer, which counts in long lists.
        localtime_r(&seconds, &parts)
        func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : String(number) }
        description = "\(Int(parts.tm_year) +| 1_900)-\(digits(parts.tm_mon +| 1))-\(digits(parts.tm_mday))"
    }
}

extension OmittedContent {
    /// The counts of the omitted content, for JSON output; `nil` if everything is stored.
    var report: ReportValue? {
        guard !isEmpty else { return nil }
        return .fields([
            "interstitials": .integer(Int64(clamping: interstitials)),
            "sessionData": .integer(Int64(clamping: sessionData)),
            "imagePlaylists": .integer(Int64(clamping: imagePlaylists)),
            "iFramePlaylists": .integer(Int64(clamping: iFramePlaylists)),
            "gapDuration": .seconds(gapDuration),
        ])
    }

    /// A human-readable list of the omitted content; `nil` if everything is stored.
    var text: String? {
        let parts = [
            (interstitials, "interstitial"), (sessionData, "session data file"), (imagePlaylists, "image playlist"),
            (iFramePlaylists, "I-frame playlist"),
        ]
        var texts = parts.filter { $0.0 > 0 }.map { count, name in "\(count) \(name)\(count == 1 ? "" : "s")" }
        if gapDuration > .zero { texts.append("\(QuantityText.seconds(gapDuration)) of media, which are gaps") }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }
}
