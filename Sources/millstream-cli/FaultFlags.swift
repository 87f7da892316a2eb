import ArgumentParser
import MillstreamServer

/// The options for faults that a server simulates.
struct FaultFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Simulate a fault in responses, such as \"path=*.ts&requests=2...4&status=503\"; may be repeated, and the first that concerns a request applies. Parameters: \(Self.parameters).",
            valueName: "FAULT"
        )
    )
    var fault: [String] = []

    private static var parameters: String {
        ResponseFault.parameters.map { parameter in
            "\(parameter.name)\(parameter.placeholder.map { "=" + $0 } ?? "") (\(parameter.summary))"
        }.joined(separator: ", ")
    }

    func validate() throws {
        for text in fault {
            do throws(ResponseFault.InvalidFault) {
                _ = try ResponseFault(parsing: text)
            } catch {
                throw ValidationError(
                    "--fault \(error.sentence(about: text)); an example is \(ResponseFault.example)"
                )
            }
        }
    }

    /// The faults in the order of the command line.
    var faults: [ResponseFault] { fault.compactMap { ResponseFault($0) } }
}
