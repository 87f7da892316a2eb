import ArgumentParser
import PlaylistEditing

/// The options for edits, which are applied in the order of the command line.
struct EditFlags: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Keep variants whose BANDWIDTH is in LOW...HIGH, such as 900k...4M.", valueName: "range")
    )
    var bandwidth: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: "Keep variants whose video is at most this many pixels high.")
    var maxHeight: [String] = []

    @Flag(name: .customLong("no-i-frames"), help: "Remove I-frame variants.")
    var noIFrames: Int

    @Option(parsing: .unconditionalSingleValue, help: "Keep the segments from the one that contains this time on.")
    var start: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: "Keep whole segments with at most this total duration.")
    var duration: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: "Append another playlist, separated by a discontinuity.")
    var append: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: "Prepend another playlist, separated by a discontinuity.")
    var prepend: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Insert another playlist at the segment boundary nearest to a time.",
            valueName: "source@time"
        )
    )
    var insert: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Remove the segments that are completely within START...END.", valueName: "range")
    )
    var dropRange: [String] = []

    @Flag(help: "Write every URL as an absolute URL.")
    var absolute: Int

    @Flag(help: "Write the canonical form: one order of tags and attributes, no comments, no superfluous white space.")
    var canonical: Int

    /// Returns the edits in the order of the arguments.
    ///
    /// The argument parser groups values by option name; only the arguments themselves reveal their order.
    func plan(arguments: [String]) throws -> EditPlan {
        var waiting: [String: [String]] = [
            "bandwidth": bandwidth, "max-height": maxHeight, "start": start, "duration": duration, "append": append,
            "prepend": prepend, "insert": insert, "drop-range": dropRange,
            "no-i-frames": Array(repeating: "", count: noIFrames),
            "absolute": Array(repeating: "", count: absolute),
            "canonical": Array(repeating: "", count: canonical),
        ]
        var edits: [PlaylistEdit] = []
        for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
            let name = String(argument.dropFirst(2).prefix { $0 != "=" })
            guard var values = waiting[name], !values.isEmpty else { continue }
            edits.append(try PlaylistEdit(name: name, value: values.removeFirst()))
            waiting[name] = values
        }
        return EditPlan(edits)
    }
}
