import ArgumentParser
import ReportFormat

/// The command `millstream config`.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the defaults of options, and where they come from.",
        discussion: """
            An option on the command line has precedence over an environment variable. The variable has precedence \
            over the configuration file $XDG_CONFIG_HOME/millstream/config (default: ~/.config/millstream/config). An \
            empty variable, as in MILLSTREAM_PROXY= millstream play URL, disables the value of the file. The name of a \
            variable is MILLSTREAM_ followed by the option in capitals, such as MILLSTREAM_MAX_HEIGHT for \
            --max-height. A line of the file is OPTION = VALUE. Header fields for a host are in a section [host NAME], \
            in lines of the form header = NAME: VALUE. A file with header fields must have the mode 0600.

            Example: millstream config --json
            """
    )

    @OptionGroup var reportFormat: ReportFormatFlags

    private var json: Bool { reportFormat.isJSON }

    func run() throws {
        let configuration = try Configuration.current ?? Configuration.load()
        let rows = ConfigurationOption.all.map { option in
            let value = configuration.value(option)
            return Row(option: option, value: value?.text, origin: value?.origin ?? .standard)
        }
        let file = configuration.file
        if json {
            try StandardOutput.writeLine(
                ReportValue.fields([
                    "file": .string(file.path),
                    "options": .array(rows.map(\.report)),
                    // The values are secrets.
                    "headers": .array(
                        file.headers.map {
                            .fields(["host": .string($0.host), "name": .string($0.field), "line": .integer($0.line)])
                        }
                    ),
                ])
            )
            return
        }
        var cells = rows.map { [$0.option.name, $0.value ?? $0.option.standard, $0.origin.text(file.path)] }
        cells += file.headers.map {
            ["header for \($0.host)", $0.field, Configuration.Origin.file(line: $0.line).text(file.path)]
        }
        let lines = TextTable.lines(header: ["option", "value", "from"], rows: cells)
        try StandardOutput.writeLine(lines.joined(separator: "\n"))
    }

    private struct Row {
        let option: ConfigurationOption
        let value: String?
        let origin: Configuration.Origin

        var report: ReportValue {
            .fields([
                "name": .string(option.name),
                "value": value.map { .string($0) },
                "from": .string(origin.name),
                "variable": .string(option.variable),
                "line": origin.line.map { .integer($0) },
            ])
        }
    }
}

extension ConfigurationFile.Entry {
    /// The host of a header field.
    fileprivate var host: String { String(value.prefix { $0 != " " }) }

    /// The name of a header field, without its value.
    fileprivate var field: String {
        String(value.drop { $0 != " " }.dropFirst().prefix { $0 != ":" })
    }
}

extension Configuration.Origin {
    /// The name in reports.
    fileprivate var name: String {
        switch self {
        case .environment: "environment"
        case .file: "file"
        case .standard: "built-in"
        }
    }

    /// The line in the file; `nil` if the value is from elsewhere.
    fileprivate var line: Int? { if case .file(let line) = self { line } else { nil } }

    /// The origin for people.
    fileprivate func text(_ path: String) -> String {
        switch self {
        case .environment(let variable): "$\(variable)"
        case .file(let line): "\(path):\(line)"
        case .standard: "built in"
        }
    }
}
