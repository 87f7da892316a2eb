import FuzzTargets
import FuzzerDriver

/// Runs libFuzzer on the readers that have no effects.
@main enum Fuzzer {
    static func main() { FuzzerDriver.run(FuzzTarget.formats) }
}
