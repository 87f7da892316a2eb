import Adaptation
import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import PlaylistEditing
import ResourceAddressing
import StreamingEngine

/// The command `millstream play`.
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play a stream or a file, and tell how it went.",
        discussion: """
            The engine loads, chooses variants and keeps time as a player does; nothing is decoded or shown yet, so \
            that it runs anywhere. What comes of it are the events, the logs and the indicators.

            Example: millstream play https://example.com/multivariant.m3u8 --no-decode --conditions 3G --metrics -
            """
    )

    @Argument(help: "The address of a playlist or of a media file, a file, or the folder of a kept asset.")
    var source: String

    @Flag(name: .long, help: "Run the engine without decoding anything; the default, as there is no decoder yet.")
    var noDecode = false

    @Option(name: .long, help: ArgumentHelp("How fast, 0.1 to 32.", valueName: "R"))
    var rate = 1.0

    @Option(name: .long, help: ArgumentHelp("Where to begin.", valueName: "T"))
    var start: String?

    @Option(name: .long, help: ArgumentHelp("Where to stop.", valueName: "T"))
    var until: String?

    @Flag(name: .long, help: "Begin again at the end.")
    var loop = false

    @Option(
        name: .long,
        help: ArgumentHelp("Which sound is preferred, several languages with commas between.", valueName: "LANG")
    )
    var audio: String?

    @Option(name: .long, help: ArgumentHelp("Which subtitles are preferred.", valueName: "LANG"))
    var subtitles: String?

    @Option(name: .long, help: ArgumentHelp("Fetch no variant above this bit rate, such as 2M.", valueName: "N"))
    var maxBandwidth: String?

    @Option(name: .long, help: ArgumentHelp("Fetch no picture higher than so many pixels.", valueName: "N"))
    var maxHeight: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Who chooses variants: \(SelectorName.list).",
            valueName: "NAME"
        )
    )
    var selector = SelectorName.default.rawValue

    @Option(
        name: .long,
        help: ArgumentHelp("Write the access log, in the W3C Extended Log File Format.", valueName: "FILE")
    )
    var accessLog: String?

    @Option(name: .long, help: ArgumentHelp("Write the error log, in the same format.", valueName: "FILE"))
    var errorLog: String?

    @Option(name: .long, help: ArgumentHelp("Write the playback indicators as JSON.", valueName: "FILE|-"))
    var metrics: String?

    @Option(name: .long, help: ArgumentHelp("Write each event as a line of JSON.", valueName: "FILE|-"))
    var events: String?

    @Option(
        name: .long,
        help: ArgumentHelp("realtime, or max: as fast as the data comes.", valueName: "realtime|max")
    )
    var speed = Speed.realtime

    @Flag(name: .long, help: "Show no progress.")
    var quiet = false

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    enum Speed: String, ExpressibleByArgument, CaseIterable {
        case realtime, max
    }

    func validate() throws {
        guard source != "-" else { throw ValidationError("to play, an address or a file is needed") }
        guard (0.1...32).contains(rate) else { throw ValidationError("--rate wants 0.1 to 32") }
        _ = try options()
    }

    mutating func run() async throws {
        let files = try PlaybackFiles(accessLog: accessLog, errorLog: errorLog, metrics: metrics, events: events)
        let package = PackageTransport.package(at: URL(fileURLWithPath: source))
        let address = try PlaylistSource.address(source)
        let options = try options()
        let display = PlaybackDisplay(isQuiet: quiet)
        let printsSummary = metrics != "-" && events != "-"
        let (rate, loop, speed) = (rate, loop, speed)
        do {
            let metrics = try await http.withLoading(sources: [source] + origins(of: package)) { loading in
                var (loading, address) = (loading, address)
                if let package {
                    let stored = PackageTransport(package.library, id: package.id, origin: loading.transport)
                    loading = ResourceLoading(stored, policy: loading.policy)
                    address = stored.address
                }
                return try await Interruption.cancelling { [loading, address] in
                    try await PlaybackRun(
                        address: address,
                        loading: loading,
                        options: options,
                        rate: rate,
                        isLoop: loop,
                        isUnpaced: speed == .max,
                        files: files,
                        display: display
                    ).run()
                }
            }
            display.end()
            try files.close()
            if printsSummary { StandardOutput.write(metrics.summary) }
        } catch {
            display.end()
            // What was written up to here is kept.
            try? files.close()
            throw error
        }
    }

    /// Where the rest of a package may be asked for.
    private func origins(of package: (library: AssetLibrary, id: String)?) throws -> [String] {
        guard let package else { return [] }
        return [try package.library.asset(package.id).source.text]
    }

    private func options() throws -> StreamingOptions {
        var options = StreamingOptions()
        options.startTime = try start.map { try time($0, "--start") }
        options.forwardPlaybackEndTime = try until.map { try time($0, "--until") }
        if let begin = options.startTime, let end = options.forwardPlaybackEndTime, end <= begin {
            throw ValidationError("--until wants a time behind --start")
        }
        if let maxBandwidth {
            guard let rate = BitRate(maxBandwidth) else { throw ValidationError("--max-bandwidth wants a bit rate") }
            options.preferredPeakBitRate = rate
        }
        if let maxHeight {
            guard (1...100_000).contains(maxHeight) else {
                throw ValidationError("--max-height wants a number of pixels")
            }
            // Only the height counts.
            options.preferredMaximumResolution = Resolution(width: 1_000_000, height: maxHeight)
        }
        guard let name = SelectorName(rawValue: selector) else {
            throw ValidationError("--selector knows \(SelectorName.list)")
        }
        options.selector = name
        options.selectionRules.audioLanguages = languages(audio)
        options.selectionRules.subtitleLanguages = languages(subtitles)
        if subtitles != nil { options.selectionRules.subtitleMode = .always }
        return options
    }

    private func languages(_ text: String?) -> [String] { text?.split(separator: ",").map(String.init) ?? [] }

    private func time(_ text: String, _ name: String) throws -> MediaTime {
        guard let time = ClockTime.parse(text) else {
            throw ValidationError("\(name) wants a time such as 12.5 or 01:02:03.5")
        }
        return time
    }
}
