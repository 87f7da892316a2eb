import ArgumentParser
import MediaTransport
import PresentationLoading
import ReportFormat

/// The options for DASH presentations, shared by all commands that take them in place of HLS streams.
struct DASHFlags: ParsableArguments {
    @Flag(
        name: .customLong("no-dash"),
        help: "Refuse DASH manifests, as AVFoundation does (error -11850), instead of translating them to HLS."
    )
    var noDASH = false

    /// The advice for a manifest that was refused.
    static let bridgeHint = "the DASH bridge translates manifests to HLS: omit --no-dash"

    /// A Boolean value that indicates whether DASH presentations are translated.
    var translates: Bool { !noDASH }

    /// A new store of the presentations that are translated; `nil` if the bridge is turned off.
    var store: PresentationStore? { translates ? PresentationStore(options: Self.options) : nil }

    /// Returns a loader to which DASH presentations are HLS streams, unless the bridge is turned off.
    func bridging(_ loader: ResourceLoader) -> ResourceLoader {
        store.map { loader.translatingPresentations(in: $0) } ?? loader
    }

    /// The options for loading presentations, which print problems with resources as notes.
    static var options: PresentationOptions {
        var options = PresentationOptions()
        options.reportProblem = { StandardError.write("note: \($0)\n") }
        return options
    }
}
