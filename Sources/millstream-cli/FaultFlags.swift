import ArgumentParser
import MillstreamServer

/// The options for faults that a server simulates.
struct FaultFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Simulate a fault in responses, such as "path=*.ts&requests=2...4&status=503". The overview lists the parameters of \
            a fault. May be repeated; the first fault that concerns a request applies.
            """,
            valueName: "FAULT"
        )
    )
    var fault: [String] = []

    /// The paragraph of an overview before ``parameters``.
    static let introduction =
        "A fault of --fault consists of parameters that are separated by &. They select requests and change the responses:"

    /// The parameters of faults for the overview of a command, one a line.
    static var parameters: String {
        ResponseFault.parameters.map { parameter in
            "  \(parameter.name)\(parameter.placeholder.map { "=" + $0 } ?? ""): \(parameter.summary)"
        }.joined(separator: "\n")
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
