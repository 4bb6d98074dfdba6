// Answers with the variable of a test that its configuration names; fails where it is "fail".
class Two {
  constructor(o) { this.config = o.config || {}; this.name = o.config.name; }
  id() { return this.name; }
  async callApi(prompt, context) {
    const say = context.vars[this.config.as];
    if (say === 'fail') return { error: 'the model is out' };
    return { output: say, tokenUsage: { total: 3, prompt: 2, completion: 1, numRequests: 1 } };
  }
}
module.exports = Two;
