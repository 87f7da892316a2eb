import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import ReportFormat

extension LibraryCommand {
    /// The command `millstream library shrink`.
    struct ShrinkCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "shrink",
            abstract: "Remove the variants of an asset that exceed a limit.",
            discussion: """
                Renditions that only these variants use are removed too. Nothing is downloaded. At least one variant \
                remains.

                Example: millstream library shrink abc123 --max-height 720
                """
        )

        @Argument(help: "The identifier of the asset, the URL of its source, or the path of its package.")
        var asset: String
        @Option(name: .long, help: "The maximum height of the remaining variants in pixels.") var maxHeight: Int?
        @Option(name: .long, help: "The maximum bit rate of the remaining variants, such as 3M.")
        var maxBandwidth: String?
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func validate() throws { _ = try limit() }

        func run() async throws {
            let library = try library.openForWriting()
            let id = try library.identifier(of: asset)
            let result = try library.shrink(id, to: try limit())
            if json {
                return try StandardOutput.writeLine(
                    ReportValue.fields([
                        "id": .string(id),
                        "outcome": .string(result.outcome.rawValue),
                        "removed": .strings(result.removed.map(\.folder)),
                        "freed": .integer(result.freedBytes.bytes),
                    ])
                )
            }
            try StandardOutput.writeLine("\(id)  \(Self.text(for: result))")
        }

        /// Returns the text that describes the result.
        private static func text(for result: ShrinkingResult) -> TerminalText {
            switch result.outcome {
            case .withinLimit: return "nothing is removed: all variants are within the limit"
            case .noVariants: return "nothing is removed: the asset has no variants to choose from"
            case .removedFromPlaylist:
                return "removed variants above the limit from the playlist only: other variants use the same files"
            case .removed: break
            }
            let names = result.removed.map { rendition in
                let parts = [
                    rendition.role.rawValue, rendition.height.map { "\($0)p" }, rendition.bandwidth?.description,
                    rendition.language,
                ]
                return parts.compactMap { $0 }.joined(separator: " ")
            }
            return "removed \(names.joined(separator: ", ")); freed \(result.freedBytes)"
        }

        private func limit() throws -> StoredVariantLimit {
            switch (maxHeight, maxBandwidth) {
            case (let height?, nil):
                guard height > 0 else { throw ValidationError("--max-height must be a height in pixels above 0") }
                return .maximumHeight(height)
            case (nil, let text?):
                guard let rate = BitRate(text) else {
                    throw ValidationError("--max-bandwidth must be a bit rate, such as 3M")
                }
                return .maximumBitRate(rate)
            default: throw ValidationError("give either --max-height or --max-bandwidth")
            }
        }
    }
}
