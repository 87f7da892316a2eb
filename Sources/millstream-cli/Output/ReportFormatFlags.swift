import ArgumentParser

/// The options that determine whether a report is text for people or JSON for programs.
struct ReportFormatFlags: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(name: .long, help: ArgumentHelp("The output format (default: text).", valueName: "text|json"))
    var format: Format?

    @Flag(name: .long, help: "Print JSON, like --format json.")
    var json = false

    func validate() throws {
        if json, format == .text { throw ValidationError("--json and --format text cannot be combined") }
    }

    /// A Boolean value that indicates whether the report is JSON.
    var isJSON: Bool { json || format == .json }
}
